-- +goose Up
-- The request of an action (X-Request-Id), for `admin audit show`. A column without a default changes no row.
ALTER TABLE audit_log ADD COLUMN request_id text;

-- +goose Down
SELECT 'the requests stay';
