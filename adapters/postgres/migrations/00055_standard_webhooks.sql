-- +goose Up
-- Whether deliveries carry the headers of Standard Webhooks beside ours. They are signed with the same secret.
-- The column has a constant default, so the statement takes moments.
ALTER TABLE webhook_subscriptions ADD COLUMN standard boolean NOT NULL DEFAULT false;

-- +goose Down
SELECT 'the column stays';
