-- +goose NO TRANSACTION
-- +goose Up

-- Finds and counts failed deliveries without reading the others. The index stays small: a delivery that succeeds never
-- enters. CONCURRENTLY, because the table may be large and in use. An interrupted CREATE leaves an invalid index; the
-- DROP removes that index.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_failed;
CREATE INDEX CONCURRENTLY deliveries_failed ON deliveries (subscription_id, id) WHERE state IN (3, 4);

-- +goose Down
SELECT 'the index stays';
