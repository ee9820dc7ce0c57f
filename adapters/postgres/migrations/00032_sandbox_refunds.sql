-- +goose Up
-- The sandbox payment provider gives money back. Empty in production, as sandbox_payments.
CREATE TABLE sandbox_refunds (
    id           uuid PRIMARY KEY,                                                 -- the id of the refund: the idempotency key
    payment_id   uuid NOT NULL REFERENCES sandbox_payments,
    ref          text NOT NULL UNIQUE,
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sandbox_refunds_of_a_payment ON sandbox_refunds (payment_id);

-- +goose Down
SELECT 'the refunds stay';
