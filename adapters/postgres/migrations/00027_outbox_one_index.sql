-- +goose NO TRANSACTION
-- +goose Up
-- The outbox keeps a single index, that of its order: each event pays for an entry of each index twice, at its INSERT and when vacuum removes
-- the entry. No two rows have the same id, since the table events refuses an id that is filed already. Relays of a binary from before
-- positions sort the rows that wait.
ALTER TABLE outbox DROP CONSTRAINT IF EXISTS outbox_pkey;

-- Without ON CONFLICT, which costs an INSERT a second record in the log: a new deposit has no row yet.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION note_new_deposits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents)
    SELECT account_id, status, created_at, id, coalesce(expires_at, checkout_expires_at), amount_cents
    FROM made WHERE status IN ('pending', 'incomplete', 'payment_issue', 'active');
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'the index is not made again';
