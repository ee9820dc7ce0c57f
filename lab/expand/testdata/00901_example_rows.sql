-- +goose NO TRANSACTION
-- +goose Up
-- The second half of the example: the rows from before the trigger, 1,000 a transaction, then the check and an index.
-- +goose StatementBegin
DO $$
DECLARE
    last uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
    LOOP
        WITH block AS MATERIALIZED (SELECT id, created_at FROM deposits WHERE id > last ORDER BY id LIMIT 1000),
        noted AS (INSERT INTO deposit_examples (deposit_id, noted_at) SELECT id, created_at FROM block ON CONFLICT DO NOTHING)
        SELECT id INTO last FROM block ORDER BY id DESC LIMIT 1;
        EXIT WHEN last IS NULL;
        COMMIT;
    END LOOP;
END $$;
-- +goose StatementEnd
ALTER TABLE deposits VALIDATE CONSTRAINT deposits_example_check;
DROP INDEX CONCURRENTLY IF EXISTS deposits_with_example;
CREATE INDEX CONCURRENTLY deposits_with_example ON deposits (example_since, id) WHERE example IS NOT NULL;

-- +goose Down
SELECT 'an example';
