-- +goose Up
-- The life of a captured amount until it is paid, beside its payment, which is the record with the provider. Triggers make the row and
-- end it, so that programs from before this migration keep the table too.
CREATE TABLE collections (
    payment_id      uuid PRIMARY KEY REFERENCES payments,
    deposit_id      uuid NOT NULL,
    state           text NOT NULL CHECK (state IN ('scheduled', 'retrying', 'awaiting_tenant', 'paid', 'failed')),
    steps           integer NOT NULL DEFAULT 0,                                    -- rows of collection_steps
    captured_at     timestamptz NOT NULL,
    attempt         integer NOT NULL DEFAULT 0,                                    -- committed before the provider is called
    answered        boolean NOT NULL DEFAULT true,                                 -- the provider has answered that attempt
    attempted_at    timestamptz,
    next_attempt_at timestamptz,
    page_at         timestamptz,                                                   -- the tenant last asked for the provider's page
    ended_at        timestamptz,
    failure         text NOT NULL DEFAULT '',
    barred          boolean NOT NULL DEFAULT false,                                -- the card must not be charged again
    cancel_at       timestamptz,                                                   -- committed before the provider is told
    cancel_by       text NOT NULL DEFAULT '',
    CHECK ((state IN ('paid', 'failed')) = (ended_at IS NOT NULL))
);
CREATE INDEX collections_of_deposit ON collections (deposit_id);
-- Few rows: what is not paid. Gauges and lists read it.
CREATE INDEX collections_unpaid ON collections (state, captured_at, payment_id) WHERE state <> 'paid';
CREATE INDEX collections_paid ON collections (payment_id) WHERE state = 'paid';

CREATE TABLE collection_steps (
    payment_id uuid NOT NULL REFERENCES collections,
    number     integer NOT NULL,
    from_state text NOT NULL,
    to_state   text NOT NULL,
    trigger    text NOT NULL,
    at         timestamptz NOT NULL,
    actor      text NOT NULL,
    detail     jsonb,
    PRIMARY KEY (payment_id, number)
);

-- Money that goes back to tenants. A row commits before the provider is called; its id is the root of the provider's keys.
CREATE TABLE refunds (
    id           uuid PRIMARY KEY,
    payment_id   uuid NOT NULL REFERENCES payments,
    deposit_id   uuid NOT NULL,
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    reason       text NOT NULL CHECK (reason IN ('orphaned', 'charged_wrong')),
    status       text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    provider_ref text NOT NULL DEFAULT '',
    failure      text NOT NULL DEFAULT '',
    actor        text NOT NULL,
    created_at   timestamptz NOT NULL,
    check_at     timestamptz NOT NULL,
    settled_at   timestamptz,
    CHECK ((status = 'pending') = (settled_at IS NULL))
);
CREATE INDEX refunds_of_payment ON refunds (payment_id);
CREATE INDEX refunds_of_deposit ON refunds (deposit_id);
CREATE INDEX refunds_to_reconcile ON refunds (check_at) WHERE status = 'pending';

-- Tenants that are to be told something by mail. The transaction of the change adds a row, and the dispatcher makes a mail of it.
CREATE TABLE tenant_notices (
    subject_id uuid NOT NULL,                                                      -- of the payment, or of the refund
    kind       text NOT NULL CHECK (kind IN ('captured', 'awaiting', 'paid', 'refunded')),
    deposit_id uuid NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (subject_id, kind)
);
CREATE INDEX tenant_notices_in_order ON tenant_notices (at, subject_id);

-- +goose StatementBegin
CREATE FUNCTION begin_collection() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO collections (payment_id, deposit_id, state, captured_at, next_attempt_at)
    VALUES (NEW.id, NEW.deposit_id, 'scheduled', NEW.created_at, NEW.check_at) ON CONFLICT DO NOTHING;
    INSERT INTO tenant_notices (subject_id, kind, deposit_id, at) VALUES (NEW.id, 'captured', NEW.deposit_id, NEW.created_at) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- A program of this version has ended the collection before it ends the payment, so that the statement changes nothing.
-- +goose StatementBegin
CREATE FUNCTION end_collection() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    UPDATE collections SET state = CASE NEW.status WHEN 'succeeded' THEN 'paid' ELSE 'failed' END, attempt = greatest(attempt, NEW.attempts), answered = true,
        next_attempt_at = NULL, ended_at = NEW.settled_at, failure = NEW.failure
    WHERE payment_id = NEW.id AND state NOT IN ('paid', 'failed');
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER collections_begin AFTER INSERT ON payments
    FOR EACH ROW WHEN (NEW.kind = 'collection' AND NEW.status = 'processing') EXECUTE FUNCTION begin_collection();
CREATE TRIGGER collections_end AFTER UPDATE OF status ON payments
    FOR EACH ROW WHEN (NEW.kind = 'collection' AND OLD.status = 'processing' AND NEW.status <> 'processing') EXECUTE FUNCTION end_collection();

-- +goose Down
SELECT 'the tables stay';
