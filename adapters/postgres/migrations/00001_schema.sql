-- +goose Up
-- The first schema. Constraints state the invariants; comments give the reasons. Ids are UUID v7, made by the service, so ids sort by time.
-- ── Partners ────────────────────────────────────────────────────────────────
CREATE TABLE partners (
    id                    uuid PRIMARY KEY,
    slug                  text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9-]{2,40}$'), -- no dots: dots separate the parts of the signed payload
    name                  text NOT NULL CHECK (name <> ''),
    contact_email         text NOT NULL DEFAULT '',
    return_origins        text[] NOT NULL DEFAULT '{}',
    rate_limit_per_minute integer CHECK (rate_limit_per_minute > 0),               -- null: the default of the service
    connect_secret        bytea,                                                   -- encrypted, bound to the partner's id; null: none provisioned
    created_at            timestamptz NOT NULL
);

CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    partner_id   uuid NOT NULL REFERENCES partners,
    name         text NOT NULL,
    prefix       text NOT NULL,
    last4        text NOT NULL,
    hash         bytea NOT NULL UNIQUE CHECK (length(hash) = 32),                  -- SHA-256; the key itself is not stored
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX api_keys_of_partner ON api_keys (partner_id, created_at);

-- ── Operators, accounts, links ──────────────────────────────────────────────
CREATE TABLE operators (
    id            uuid PRIMARY KEY,
    email         text NOT NULL,
    email_key     text NOT NULL UNIQUE,                                            -- lower case
    password_hash text NOT NULL,
    created_at    timestamptz NOT NULL
);

CREATE TABLE accounts (
    id               uuid PRIMARY KEY,
    operator_id      uuid NOT NULL UNIQUE REFERENCES operators,
    company_name     text NOT NULL CHECK (company_name <> ''),
    max_amount_cents bigint CHECK (max_amount_cents >= 7000),                      -- null: the default ceiling
    created_at       timestamptz NOT NULL
);

CREATE TABLE account_links (
    id          uuid PRIMARY KEY,
    partner_id  uuid NOT NULL REFERENCES partners,
    account_id  uuid NOT NULL REFERENCES accounts,
    external_id text NOT NULL CHECK (external_id <> ''),
    linked_at   timestamptz NOT NULL,
    revoked_at  timestamptz,
    revoked_by  text CHECK (revoked_by IN ('operator', 'partner', 'admin')),
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
-- These indexes decide races: an account has at most one active link, and an external id of a partner names a single account.
CREATE UNIQUE INDEX one_active_link_per_account ON account_links (account_id) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX one_active_account_per_external_id ON account_links (partner_id, external_id) WHERE revoked_at IS NULL;
CREATE INDEX account_links_of_partner ON account_links (partner_id, linked_at DESC, id DESC);
CREATE INDEX account_links_pair ON account_links (partner_id, account_id, linked_at DESC);

CREATE TABLE sessions (
    token_hash   bytea PRIMARY KEY CHECK (length(token_hash) = 32),
    operator_id  uuid NOT NULL REFERENCES operators ON DELETE CASCADE,
    created_at   timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX sessions_of_operator ON sessions (operator_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- ── Tenants ─────────────────────────────────────────────────────────────────
CREATE TABLE clients (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts,
    partner_id uuid REFERENCES partners,                                           -- null: from checkout or the dashboard
    email      text NOT NULL,
    first_name text NOT NULL,
    last_name  text NOT NULL,
    phone      text NOT NULL DEFAULT '',
    locale     text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    erased_at  timestamptz,
    CHECK (erased_at IS NULL OR (email = '' AND first_name = '' AND last_name = '' AND phone = '')) -- erasing removes the personal data
);
CREATE INDEX clients_of_account ON clients (account_id, created_at DESC, id DESC);

-- ── Deposits ────────────────────────────────────────────────────────────────
-- The invariants of a deposit in a single function. Postgres parses every CHECK again for every statement; a dozen CHECKs
-- cost more than the update itself. A session compiles a function once.
-- +goose StatementBegin
CREATE FUNCTION deposit_is_sound(d_status text, d_version integer, amount bigint, captured bigint, starts timestamptz, ends timestamptz,
    url_generation boolean, return_url text, activated timestamptz, expires timestamptz, cancelled timestamptz, closed timestamptz, captured_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN d_status IN ('pending', 'incomplete', 'active', 'cancelled', 'payment_issue', 'close', 'captured')
        AND d_version > 0
        AND amount >= 7000                                                         -- cents (service.md, "Limits")
        AND captured BETWEEN 0 AND amount
        AND ends >= starts
        AND (NOT url_generation OR return_url <> '')
        AND (d_status IN ('active', 'close', 'captured')) = (activated IS NOT NULL AND expires IS NOT NULL)
        AND (d_status = 'cancelled') = (cancelled IS NOT NULL)
        AND (d_status = 'close') = (closed IS NOT NULL)
        AND (d_status = 'captured') = (captured_at IS NOT NULL AND captured > 0);
END $$;
-- +goose StatementEnd

CREATE TABLE deposits (
    id                  uuid PRIMARY KEY,
    reference           text NOT NULL UNIQUE,
    status              text NOT NULL,
    status_reason       text NOT NULL DEFAULT '',
    version             integer NOT NULL,
    account_id          uuid NOT NULL REFERENCES accounts,
    partner_id          uuid REFERENCES partners,                                  -- null: created on the dashboard of an account without a partner
    by_partner_api      boolean NOT NULL,
    external_id         text NOT NULL DEFAULT '',
    client_id           uuid REFERENCES clients,
    amount_cents        bigint NOT NULL,
    captured_cents      bigint NOT NULL DEFAULT 0,
    contract_start_at   timestamptz NOT NULL,
    contract_end_at     timestamptz NOT NULL,
    rental_contract     text NOT NULL DEFAULT '',
    return_url          text NOT NULL DEFAULT '',
    url_generation      boolean NOT NULL,
    metadata            jsonb NOT NULL DEFAULT '{}',
    locale              text NOT NULL DEFAULT '',
    checkout_token_hash bytea NOT NULL UNIQUE,                                     -- SHA-256
    checkout_token      bytea NOT NULL,                                            -- encrypted, bound to the deposit's id
    checkout_expires_at timestamptz NOT NULL,
    checkout_started_at timestamptz,
    activated_at        timestamptz,
    expires_at          timestamptz,
    cancelled_at        timestamptz,
    closed_at           timestamptz,
    captured_at         timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT deposit_is_sound CHECK (deposit_is_sound(status, version, amount_cents, captured_cents, contract_start_at, contract_end_at,
        url_generation, return_url, activated_at, expires_at, cancelled_at, closed_at, captured_at))
) WITH (fillfactor = 75); -- free space, so that a transition writes the new row version to the same page
CREATE INDEX deposits_of_partner ON deposits (partner_id, created_at DESC, id DESC);
CREATE INDEX deposits_of_account ON deposits (account_id, created_at DESC, id DESC);
-- No index contains a column that a transition changes, so a transition writes a page of this table and no index.

-- The times at which schedulers may have to change a deposit. A row is a hint and may be out of date: the schedulers check
-- the deposit and delete stale rows.
CREATE TABLE deposit_timers (
    kind       text NOT NULL CHECK (kind IN ('idle', 'checkout', 'coverage')),
    due_at     timestamptz NOT NULL,                                               -- idle: the tenant's last step; queries add the span
    deposit_id uuid NOT NULL,
    PRIMARY KEY (kind, due_at, deposit_id)
);

CREATE TABLE deposit_transitions (
    deposit_id  uuid NOT NULL,
    version     integer NOT NULL,                                                  -- of the deposit after the step; each version has one step
    from_status text NOT NULL,
    to_status   text NOT NULL,
    trigger     text NOT NULL,
    at          timestamptz NOT NULL,
    actor       text NOT NULL,                                                     -- as in audit_log; a transition has no row there
    detail      jsonb,                                                             -- the details that the actor gave
    event_id    uuid,                                                              -- null: the step has no event
    PRIMARY KEY (deposit_id, version)
);

CREATE TABLE payments (
    id           uuid PRIMARY KEY,                                                 -- the provider's idempotency key
    deposit_id   uuid NOT NULL REFERENCES deposits,
    kind         text NOT NULL CHECK (kind IN ('fee', 'collection')),
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    status       text NOT NULL CHECK (status IN ('processing', 'succeeded', 'failed', 'voided')),
    provider_ref text NOT NULL DEFAULT '',
    failure      text NOT NULL DEFAULT '',
    attempts     integer NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL,
    check_at     timestamptz NOT NULL,
    settled_at   timestamptz,
    CHECK ((status = 'processing') = (settled_at IS NULL))
);
-- Two processing payments of the same kind could charge twice; two succeeded payments would mean a double charge.
CREATE UNIQUE INDEX one_payment_under_way ON payments (deposit_id, kind) WHERE status = 'processing';
CREATE UNIQUE INDEX one_payment_succeeded ON payments (deposit_id, kind) WHERE status = 'succeeded';
CREATE INDEX payments_to_reconcile ON payments (check_at) WHERE status = 'processing';

-- The records of the sandbox payment provider, which stands for an external system. Empty in production.
CREATE TABLE sandbox_payments (
    id           uuid PRIMARY KEY,                                                 -- the id of the payment: the idempotency key
    ref          text NOT NULL UNIQUE,
    amount_cents bigint NOT NULL,
    description  text NOT NULL,
    return_url   text NOT NULL,
    status       text NOT NULL CHECK (status IN ('open', 'succeeded', 'failed', 'closed')),
    failure      text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now()
);

-- ── Idempotency ─────────────────────────────────────────────────────────────
-- Stored responses of Idempotency-Key. A row commits with the effect of its request, so no crash separates the two.
CREATE TABLE idempotency_keys (
    partner_id  uuid NOT NULL,
    route       text NOT NULL,                                                     -- method and path, ids included
    key         uuid NOT NULL,
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
    status      smallint NOT NULL CHECK (status BETWEEN 200 AND 299),              -- only successes are kept
    response    bytea NOT NULL,                                                    -- encrypted
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (partner_id, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- ── Events, outbox, webhooks ────────────────────────────────────────────────
-- Events that the relay has taken from the outbox. Partitioned by day, by the time in the UUID v7; retention drops old
-- partitions.
CREATE TABLE events (
    id         uuid NOT NULL,
    partner_id uuid NOT NULL,
    name       text NOT NULL CHECK (name IN ('rental_operator.linked', 'deposit.status_changed', 'deposit.activated', 'deposit.captured', 'deposit.expired', 'deposit.cancelled')),
    deposit_id uuid,
    data       text NOT NULL,                                                      -- JSON as text, not jsonb: the bytes are sent unchanged
    created_at timestamptz NOT NULL,
    PRIMARY KEY (partner_id, id)                                                   -- also the order of the event list of a partner
) PARTITION BY RANGE (id);

-- Events that committed with their change and wait for the relay, which moves them to the table events and makes their
-- deliveries. A row lives for milliseconds. The relay takes a row by deleting the row.
CREATE TABLE outbox (
    event_id     uuid PRIMARY KEY,
    partner_id   uuid NOT NULL,
    name         text NOT NULL,
    deposit_id   uuid,
    data         text NOT NULL,
    created_at   timestamptz NOT NULL,
    committed_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000);

CREATE TABLE webhook_subscriptions (
    id              uuid PRIMARY KEY,
    partner_id      uuid NOT NULL REFERENCES partners,
    url             text NOT NULL,
    events          text[] NOT NULL CHECK (cardinality(events) > 0),
    secret          bytea NOT NULL,                                                -- encrypted, bound to the subscription's id
    enabled         boolean NOT NULL DEFAULT true,
    disabled_reason text NOT NULL DEFAULT '',
    -- The health of the endpoint (core/webhook.Health): slow lane, circuit, ramp.
    failures        integer NOT NULL DEFAULT 0,                                    -- consecutive failed attempts
    failing_since   timestamptz,
    slow            boolean NOT NULL DEFAULT false,                                -- deliveries go through the slow lane
    quick           integer NOT NULL DEFAULT 0,                                    -- consecutive quick successes, which end the slow lane
    holds           integer NOT NULL DEFAULT 0,                                    -- consecutive failed probes
    held_until      timestamptz,                                                   -- the circuit is open until the next probe at this time
    ramp            integer NOT NULL DEFAULT 0,                                    -- deliveries that may be in flight while the circuit closes; 0: no such bound
    created_at      timestamptz NOT NULL,
    deleted_at      timestamptz,
    CHECK (enabled = (disabled_reason = ''))
);
CREATE INDEX webhook_subscriptions_of_partner ON webhook_subscriptions (partner_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

-- The id of an original is derived from its event and subscription (core/webhook.OriginalID), so the primary key refuses a
-- second original even if the relay crashes. Ids sort by time, so the primary key is also the order of the delivery log.
CREATE TABLE deliveries (
    subscription_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    event           text NOT NULL,
    deposit_id      uuid,
    test            boolean NOT NULL DEFAULT false,
    state           smallint NOT NULL CHECK (state BETWEEN 0 AND 4),               -- waiting, dispatched, succeeded, failed, cancelled
    seq             integer NOT NULL DEFAULT 0,                                    -- the number of the dispatch; a worker with another number is late
    attempts        integer NOT NULL DEFAULT 0,
    due_at          timestamptz,                                                   -- waiting: next attempt (null: parked); dispatched: end of the lease
    body            bytea NOT NULL,                                                -- rendered once, sent unchanged
    redelivery_of   uuid,
    event_at        timestamptz NOT NULL,                                          -- the commit of the change; latency counts from here
    created_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    -- The attempt that succeeded: most deliveries need no row in delivery_attempts, which holds failed attempts.
    taken_at        timestamptz,
    taken_ms        integer,
    taken_status    smallint,
    taken_snippet   text,
    PRIMARY KEY (subscription_id, id),
    CHECK ((taken_at IS NULL) = (state <> 2)),
    CHECK ((state >= 2) = (finished_at IS NOT NULL)),
    CHECK (state <> 1 OR due_at IS NOT NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
-- For the scan of due deliveries: by subscription, so that a long backlog does not hide the deliveries of others.
CREATE INDEX deliveries_waiting ON deliveries (subscription_id, due_at) WHERE state = 0 AND due_at IS NOT NULL;
-- For the scan of ended leases. A delivery that is sent at once enters only this index, and few deliveries are in flight.
CREATE INDEX deliveries_leased ON deliveries (due_at) INCLUDE (subscription_id) WHERE state = 1;
CREATE INDEX deliveries_parked ON deliveries (subscription_id, id) WHERE state = 0 AND due_at IS NULL;
-- Test deliveries are dispatched first.
CREATE INDEX deliveries_testing ON deliveries (id) WHERE test AND state = 0;

-- Failed attempts. Append-only, partitioned by day; retention drops old partitions.
CREATE TABLE delivery_attempts (
    delivery_id     uuid NOT NULL,
    number          integer NOT NULL,
    started_at      timestamptz NOT NULL,
    duration_ms     integer NOT NULL,
    result          text NOT NULL,
    response_status smallint,
    snippet         text NOT NULL DEFAULT '',
    detail          text NOT NULL DEFAULT ''
) PARTITION BY RANGE (started_at);
CREATE INDEX delivery_attempts_of_delivery ON delivery_attempts (delivery_id, number);

-- ── Mail and audit ──────────────────────────────────────────────────────────
CREATE TABLE mails (
    id         uuid PRIMARY KEY,
    recipient  text NOT NULL,
    subject    text NOT NULL,
    body       text NOT NULL,
    created_at timestamptz NOT NULL,
    due_at     timestamptz NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    sent_at    timestamptz,
    failed_at  timestamptz
);
CREATE INDEX mails_due ON mails (due_at) WHERE sent_at IS NULL AND failed_at IS NULL;

CREATE TABLE audit_log (
    id         uuid PRIMARY KEY,
    at         timestamptz NOT NULL,
    actor      text NOT NULL,                                                      -- kind and id: "partner:prt_…", "operator:opr_…", "admin"
    action     text NOT NULL,
    subject    text NOT NULL,
    detail     jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_of_subject ON audit_log (subject, at DESC);

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transitions_are_append_only BEFORE UPDATE OR DELETE ON deposit_transitions FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- ── Partitions ──────────────────────────────────────────────────────────────
-- The least UUID v7 of an instant: the milliseconds, then zeros.
-- +goose StatementBegin
CREATE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
-- +goose StatementEnd

-- Makes the daily partitions from yesterday to days_ahead from now. Rows outside these days go to the default partitions,
-- so a service without maintenance becomes slower but keeps working. Several processes may call the function at once.
-- +goose StatementBegin
CREATE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    day  timestamptz;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_partitions'));
    FOR day IN SELECT generate_series(date_trunc('day', now(), 'UTC') - interval '1 day', date_trunc('day', now(), 'UTC') + days_ahead * interval '1 day', interval '1 day') LOOP
        IF to_regclass('events_' || to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NULL THEN
            EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES FROM (%L) TO (%L)',
                'events_' || to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD'), uuid_floor(day), uuid_floor(day + interval '1 day'));
            made := made + 1;
        END IF;
        IF to_regclass('delivery_attempts_' || to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NULL THEN
            EXECUTE format('CREATE TABLE %I PARTITION OF delivery_attempts FOR VALUES FROM (%L) TO (%L)',
                'delivery_attempts_' || to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD'), day, day + interval '1 day');
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END $$;
-- +goose StatementEnd

-- Drops the partitions whose rows are all older than retention; returns their number.
-- +goose StatementBegin
CREATE FUNCTION drop_expired_partitions(retention interval) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    part    record;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_partitions'));
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('events'::regclass, 'delivery_attempts'::regclass) AND c.relname ~ '_[0-9]{8}$'
          AND to_date(right(c.relname, 8), 'YYYYMMDD') + 1 < (now() AT TIME ZONE 'UTC')::date - extract(day FROM retention)::integer
    LOOP
        EXECUTE format('DROP TABLE %I', part.relname);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
-- +goose StatementEnd

CREATE TABLE events_rest PARTITION OF events DEFAULT;
CREATE TABLE delivery_attempts_rest PARTITION OF delivery_attempts DEFAULT;
SELECT ensure_partitions(14);
-- +goose Down
SELECT 'the first schema is not taken back';
