-- +goose Up
-- The time zone in which the days of an account's deposits are counted: a name of the IANA database.
-- The column has a constant default, so the statement takes moments.
ALTER TABLE accounts ADD COLUMN timezone text NOT NULL DEFAULT 'UTC';

-- +goose Down
SELECT 'the column stays';
