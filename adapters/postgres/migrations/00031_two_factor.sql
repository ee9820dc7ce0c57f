-- +goose Up
-- The authenticator app of an operator.
CREATE TABLE second_factors (
    operator_id  uuid PRIMARY KEY REFERENCES operators ON DELETE CASCADE,
    secret       bytea NOT NULL,                                                   -- encrypted
    created_at   timestamptz NOT NULL,
    confirmed_at timestamptz,                                                      -- null: no code of the app was seen, and none is asked for
    last_step    bigint NOT NULL DEFAULT 0                                         -- of the last code that was accepted: no code counts twice
);

CREATE TABLE recovery_codes (
    operator_id uuid NOT NULL REFERENCES second_factors ON DELETE CASCADE,
    code_hash   bytea NOT NULL CHECK (length(code_hash) = 32),                     -- SHA-256 of operator and code, which has 80 random bits
    used_at     timestamptz,
    PRIMARY KEY (operator_id, code_hash)
);

-- Sign-ins whose password was right and whose code is missing. They are no rows of sessions, so no process takes them for a session.
CREATE TABLE half_sign_ins (
    token_hash    bytea PRIMARY KEY CHECK (length(token_hash) = 32),
    operator_id   uuid NOT NULL REFERENCES operators ON DELETE CASCADE,
    password_mark bytea NOT NULL CHECK (length(password_mark) = 32),               -- SHA-256 of the password's hash: another password ends the row
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL
);
CREATE INDEX half_sign_ins_by_expiry ON half_sign_ins (expires_at);
CREATE INDEX half_sign_ins_of_operator ON half_sign_ins (operator_id);

CREATE TABLE code_tries (
    operator_id uuid NOT NULL REFERENCES operators ON DELETE CASCADE,
    key         bytea NOT NULL CHECK (length(key) = 32),                           -- SHA-256 of operator and network; zero for all networks
    tries       integer NOT NULL,
    since       timestamptz NOT NULL,
    PRIMARY KEY (operator_id, key)
);
CREATE INDEX code_tries_by_age ON code_tries (since);

-- +goose Down
SELECT 'the factors stay';
