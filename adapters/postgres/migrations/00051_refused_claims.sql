-- +goose NO TRANSACTION
-- +goose Up
-- The claims that the tenant has to pay, since the card was refused: the list shows them beside the refused fees, which the status tells. A
-- trigger notes them, so that programs from before this migration keep the column too.
ALTER TABLE open_deposits ADD COLUMN IF NOT EXISTS awaits_tenant boolean NOT NULL DEFAULT false; -- captured: the tenant has to pay

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION note_refused_collection() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE open_deposits o SET awaits_tenant = NEW.state = 'awaiting_tenant'
    FROM deposits d
    WHERE d.id = NEW.deposit_id AND o.account_id = d.account_id AND o.status = 'captured' AND o.created_at = d.created_at AND o.deposit_id = d.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE OR REPLACE TRIGGER collections_refuse AFTER UPDATE OF state ON collections
    FOR EACH ROW WHEN ((OLD.state = 'awaiting_tenant') <> (NEW.state = 'awaiting_tenant')) EXECUTE FUNCTION note_refused_collection();

-- The claims from before the trigger; then those that moved meanwhile.
UPDATE open_deposits o SET awaits_tenant = true FROM collections c JOIN deposits d ON d.id = c.deposit_id
WHERE c.state <> 'paid' AND c.state = 'awaiting_tenant'
    AND o.account_id = d.account_id AND o.status = 'captured' AND o.created_at = d.created_at AND o.deposit_id = d.id;
UPDATE open_deposits o SET awaits_tenant = false
WHERE o.awaits_tenant AND NOT EXISTS (SELECT FROM collections c WHERE c.deposit_id = o.deposit_id AND c.state = 'awaiting_tenant');

-- CONCURRENTLY, because the table is written by every new deposit. An interrupted CREATE leaves an invalid index; the DROP removes that index.
DROP INDEX CONCURRENTLY IF EXISTS open_deposits_refused;
CREATE INDEX CONCURRENTLY open_deposits_refused ON open_deposits (account_id, created_at, deposit_id) WHERE awaits_tenant;

-- +goose Down
SELECT 'the column stays';
