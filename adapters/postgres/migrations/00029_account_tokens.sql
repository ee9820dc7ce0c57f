-- +goose Up
-- Who an address belongs to is known once its owner has opened a mail. The column is NULL in every row, so the statement takes a moment.
-- Operators from before are not verified.
ALTER TABLE operators ADD COLUMN verified_at timestamptz;                          -- null: nobody has shown that the address is the operator's

-- The program that the operator signed in with, in words: "Firefox, Linux". Older binaries leave it empty.
ALTER TABLE sessions ADD COLUMN browser text NOT NULL DEFAULT '';

-- Tokens of mails. Their links verify an address, change an address, or set a password, once.
CREATE TABLE operator_tokens (
    token_hash  bytea PRIMARY KEY CHECK (length(token_hash) = 32),                 -- SHA-256; the token itself is in the mail only
    operator_id uuid NOT NULL REFERENCES operators ON DELETE CASCADE,
    kind        text NOT NULL CHECK (kind IN ('verify', 'change_email', 'reset')),
    email       text NOT NULL,                                                     -- the address that the mail went to
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    used_at     timestamptz                                                        -- also when another change made the token void
);
CREATE INDEX operator_tokens_of_operator ON operator_tokens (operator_id);
CREATE INDEX operator_tokens_by_expiry ON operator_tokens (expires_at);

-- Requests for a new password. The page stores each request alike, and the dispatcher looks later whether the address is known: so the time
-- of the answer does not tell.
CREATE TABLE password_requests (
    id         uuid PRIMARY KEY,
    email      text NOT NULL,
    locale     text NOT NULL,
    created_at timestamptz NOT NULL
);

-- +goose Down
SELECT 'the columns and tables stay';
