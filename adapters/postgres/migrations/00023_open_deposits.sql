-- +goose Up
-- The deposits of an account that are not over, and captured ones whose amount is still being collected. The operator's pages read
-- what needs doing here: deposits have no index of statuses, since a transition would then write to every index of deposits.
-- A row is small, goes when its deposit is over, and is written by triggers, so that programs from before this migration keep the table too.
CREATE TABLE open_deposits (
    account_id   uuid NOT NULL,
    status       text NOT NULL,
    created_at   timestamptz NOT NULL,
    deposit_id   uuid NOT NULL,
    ends_at      timestamptz NOT NULL,                                             -- of the cover if active or captured, else of the checkout
    amount_cents bigint NOT NULL,                                                  -- captured: the amount to collect
    PRIMARY KEY (account_id, status, created_at, deposit_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
-- The covers that end next. A deposit that is being made does not enter.
CREATE INDEX open_deposits_ending ON open_deposits (account_id, ends_at, deposit_id) WHERE status = 'active';

-- Once for each statement, so that deposits which are made together cost one call.
-- +goose StatementBegin
CREATE FUNCTION note_new_deposits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents)
    SELECT account_id, status, created_at, id, coalesce(expires_at, checkout_expires_at), amount_cents
    FROM made WHERE status IN ('pending', 'incomplete', 'payment_issue', 'active')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- A table that empties looks cheap to read as a whole, so the plans are bound to the index.
-- +goose StatementBegin
CREATE FUNCTION note_moved_deposit() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM open_deposits o
    WHERE o.account_id = OLD.account_id AND o.status = OLD.status AND o.created_at = OLD.created_at AND o.deposit_id = OLD.id;
    IF NEW.status IN ('pending', 'incomplete', 'payment_issue', 'active', 'captured') THEN
        INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents)
        VALUES (NEW.account_id, NEW.status, NEW.created_at, NEW.id, coalesce(NEW.expires_at, NEW.checkout_expires_at),
            CASE NEW.status WHEN 'captured' THEN NEW.captured_cents ELSE NEW.amount_cents END)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- A collection that has ended leaves nothing to do. One that begins anew is open again.
-- +goose StatementBegin
CREATE FUNCTION note_moved_collection() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NEW.status = 'processing' THEN
        INSERT INTO open_deposits (account_id, status, created_at, deposit_id, ends_at, amount_cents)
        SELECT d.account_id, d.status, d.created_at, d.id, coalesce(d.expires_at, d.checkout_expires_at), d.captured_cents
        FROM deposits d WHERE d.id = NEW.deposit_id AND d.status = 'captured'
        ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM open_deposits o USING deposits d
        WHERE d.id = NEW.deposit_id AND o.account_id = d.account_id AND o.status = 'captured' AND o.created_at = d.created_at AND o.deposit_id = d.id;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER deposits_open AFTER INSERT ON deposits REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION note_new_deposits();
CREATE TRIGGER deposits_move AFTER UPDATE OF status ON deposits
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION note_moved_deposit();
CREATE TRIGGER collections_move AFTER UPDATE OF status ON payments
    FOR EACH ROW WHEN (NEW.kind = 'collection' AND OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION note_moved_collection();

-- +goose Down
SELECT 'the table stays';
