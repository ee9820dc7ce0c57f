-- +goose NO TRANSACTION
-- +goose Up
-- The first day of the stay of a deposit in checkout, for the stays that begin soon and are not secured. Rows of other statuses may have
-- none. Without a transaction, so that the table is locked for the ALTER alone; each statement may run again.
ALTER TABLE open_deposits ADD COLUMN IF NOT EXISTS starts_at timestamptz;

-- As in 00027 and 00023, with the new column.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION note_new_deposits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents, starts_at)
    SELECT account_id, status, created_at, id, coalesce(expires_at, checkout_expires_at), amount_cents, contract_start_at
    FROM made WHERE status IN ('pending', 'incomplete', 'payment_issue', 'active');
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION note_moved_deposit() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM open_deposits o
    WHERE o.account_id = OLD.account_id AND o.status = OLD.status AND o.created_at = OLD.created_at AND o.deposit_id = OLD.id;
    IF NEW.status IN ('pending', 'incomplete', 'payment_issue', 'active', 'captured') THEN
        INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents, starts_at)
        VALUES (NEW.account_id, NEW.status, NEW.created_at, NEW.id, coalesce(NEW.expires_at, NEW.checkout_expires_at),
            CASE NEW.status WHEN 'captured' THEN NEW.captured_cents ELSE NEW.amount_cents END, NEW.contract_start_at)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- The rows from before the column.
UPDATE open_deposits o SET starts_at = d.contract_start_at FROM deposits d
WHERE d.id = o.deposit_id AND o.starts_at IS NULL AND o.status IN ('pending', 'incomplete', 'payment_issue');

-- +goose Down
SELECT 'the column stays';
