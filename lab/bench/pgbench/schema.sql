-- FROZEN. The tables that a POST and a GET of a deposit use, as the migrations of 2026-11-22 (00001 to 00008) leave them. The
-- service is compared with these tables whatever later migrations do; a faster schema must not make the yardstick faster.
CREATE TABLE partners (
    id                    uuid PRIMARY KEY,
    slug                  text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9-]{2,40}$'),
    name                  text NOT NULL CHECK (name <> ''),
    contact_email         text NOT NULL DEFAULT '',
    return_origins        text[] NOT NULL DEFAULT '{}',
    rate_limit_per_minute integer CHECK (rate_limit_per_minute > 0),
    connect_secret        bytea,
    created_at            timestamptz NOT NULL
);

CREATE TABLE operators (
    id            uuid PRIMARY KEY,
    email         text NOT NULL,
    email_key     text NOT NULL UNIQUE,
    password_hash text NOT NULL,
    created_at    timestamptz NOT NULL
);

CREATE TABLE accounts (
    id               uuid PRIMARY KEY,
    operator_id      uuid NOT NULL UNIQUE REFERENCES operators,
    company_name     text NOT NULL CHECK (company_name <> ''),
    max_amount_cents bigint CHECK (max_amount_cents >= 7000),
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
CREATE UNIQUE INDEX one_active_link_per_account ON account_links (account_id) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX one_active_account_per_external_id ON account_links (partner_id, external_id) WHERE revoked_at IS NULL;
CREATE INDEX account_links_of_partner ON account_links (partner_id, linked_at DESC, id DESC);
CREATE INDEX account_links_pair ON account_links (partner_id, account_id, linked_at DESC);
CREATE INDEX account_links_revoked ON account_links (partner_id, external_id, revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE clients (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts,
    partner_id uuid REFERENCES partners,
    email      text NOT NULL,
    first_name text NOT NULL,
    last_name  text NOT NULL,
    phone      text NOT NULL DEFAULT '',
    locale     text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    erased_at  timestamptz,
    CHECK (erased_at IS NULL OR (email = '' AND first_name = '' AND last_name = '' AND phone = ''))
);
CREATE INDEX clients_of_account ON clients (account_id, created_at DESC, id DESC);

CREATE FUNCTION deposit_is_sound(d_status text, d_version integer, amount bigint, captured bigint, starts timestamptz, ends timestamptz,
    url_generation boolean, return_url text, activated timestamptz, expires timestamptz, cancelled timestamptz, closed timestamptz, captured_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN d_status IN ('pending', 'incomplete', 'active', 'cancelled', 'payment_issue', 'close', 'captured')
        AND d_version > 0
        AND amount >= 7000
        AND captured BETWEEN 0 AND amount
        AND ends >= starts
        AND (NOT url_generation OR return_url <> '')
        AND (d_status IN ('active', 'close', 'captured')) = (activated IS NOT NULL AND expires IS NOT NULL)
        AND (d_status = 'cancelled') = (cancelled IS NOT NULL)
        AND (d_status = 'close') = (closed IS NOT NULL)
        AND (d_status = 'captured') = (captured_at IS NOT NULL AND captured > 0);
END $$;

CREATE TABLE deposits (
    id                  uuid PRIMARY KEY,
    reference           text NOT NULL UNIQUE,
    status              text NOT NULL,
    status_reason       text NOT NULL DEFAULT '',
    version             integer NOT NULL,
    account_id          uuid NOT NULL REFERENCES accounts,
    partner_id          uuid REFERENCES partners,
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
    checkout_token_hash bytea NOT NULL UNIQUE,
    checkout_token      bytea NOT NULL,
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
) WITH (fillfactor = 50);
CREATE INDEX deposits_of_partner ON deposits (partner_id, created_at DESC, id DESC);
CREATE INDEX deposits_of_account ON deposits (account_id, created_at DESC, id DESC);

CREATE TABLE deposit_timers (
    kind       text NOT NULL CHECK (kind IN ('idle', 'checkout', 'coverage')),
    due_at     timestamptz NOT NULL,
    deposit_id uuid NOT NULL,
    PRIMARY KEY (kind, due_at, deposit_id)
);

CREATE TABLE idempotency_keys (
    partner_id  uuid NOT NULL,
    route       text NOT NULL,
    key         uuid NOT NULL,
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
    status      smallint NOT NULL CHECK (status BETWEEN 200 AND 299),
    response    bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (partner_id, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
