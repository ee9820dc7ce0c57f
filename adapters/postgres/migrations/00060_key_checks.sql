-- +goose Up
-- The check values of the keys that encrypt the secrets of this database (docs/decisions/0017-admin-and-keyset.md).
-- Only commands of an operator write them. A process whose keyset lacks one of the keys is not ready.
CREATE TABLE key_checks (
    key_id bigint PRIMARY KEY, -- of the keyset
    value  bytea NOT NULL      -- derived from the key; reveals nothing of it
);

-- +goose Down
SELECT 'the table stays';
