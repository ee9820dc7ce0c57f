-- +goose Up
-- Questions to the payment provider that its notices raised. A job asks, and removes the row.
CREATE TABLE payment_questions (
    id           uuid PRIMARY KEY,
    payment_id   uuid REFERENCES payments,                                         -- null: the provider knows which one provider_ref belongs to
    provider_ref text NOT NULL,
    dispute      boolean NOT NULL,
    told         integer NOT NULL DEFAULT 1,                                       -- notices; a row that was raised again meanwhile is not removed
    tries        integer NOT NULL DEFAULT 0,
    raised_at    timestamptz NOT NULL,
    due_at       timestamptz NOT NULL
);
CREATE UNIQUE INDEX payment_questions_by_subject ON payment_questions (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), provider_ref, dispute);
CREATE INDEX payment_questions_due ON payment_questions (due_at);

-- Objections of tenants to a charge, raised with their bank, as the provider told of them last.
CREATE TABLE disputes (
    ref             text PRIMARY KEY,                                              -- the provider's id
    payment_id      uuid NOT NULL REFERENCES payments,
    deposit_id      uuid NOT NULL REFERENCES deposits,
    amount_cents    bigint NOT NULL,
    reason          text NOT NULL,
    status          text NOT NULL,                                                 -- the provider's word
    evidence_due_by timestamptz,
    created_at      timestamptz NOT NULL,
    changed_at      timestamptz NOT NULL
);
CREATE INDEX disputes_of_deposit ON disputes (deposit_id);
CREATE INDEX disputes_in_order ON disputes (created_at);

-- Erased clients whose customer and card at the payment provider are to be deleted once nothing is owed.
CREATE TABLE payment_erasures (
    client_id uuid PRIMARY KEY REFERENCES clients,
    asked_at  timestamptz NOT NULL,
    due_at    timestamptz NOT NULL
);
CREATE INDEX payment_erasures_due ON payment_erasures (due_at);

-- The last comparison of our books with the provider's: a single row.
CREATE TABLE reconciliations (
    id          smallint PRIMARY KEY CHECK (id = 1),
    begun_at    timestamptz NOT NULL,                                              -- by a dispatcher; the others wait for a day
    ended_at    timestamptz,
    checked     integer NOT NULL DEFAULT 0,
    differences integer NOT NULL DEFAULT 0
);

-- +goose Down
SELECT 'the tables stay';
