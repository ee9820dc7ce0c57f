-- +goose Up
-- The address or telephone number that tenants are told for their questions to the operator. '' is none.
-- The column has a constant default, so the statement takes moments.
ALTER TABLE accounts ADD COLUMN contact text NOT NULL DEFAULT '';

-- +goose Down
SELECT 'the column stays';
