-- +goose Up
-- Deposits whose operator is to be told that the tenant has secured them. The transaction that secures a deposit adds a row, and the
-- dispatcher makes a mail of it: so the tenant waits for one small INSERT, and for no look at the operator.
CREATE TABLE secured_notices (
    deposit_id uuid PRIMARY KEY,
    secured_at timestamptz NOT NULL
);

-- The last mail to the operator of an account about covers that end. A cover is new if it ends after told_until, or began after mailed_at.
CREATE TABLE cover_mails (
    account_id uuid PRIMARY KEY REFERENCES accounts,
    mailed_at  timestamptz NOT NULL,
    told_until timestamptz NOT NULL                                                -- covers that end before were in a mail
);

-- Whether the operator gets mails about covers that end. The column has a constant default, so the statement takes moments.
ALTER TABLE operators ADD COLUMN cover_mails boolean NOT NULL DEFAULT true;

-- +goose Down
SELECT 'the tables and the column stay';
