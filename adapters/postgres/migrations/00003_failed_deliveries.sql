-- +goose NO TRANSACTION
-- +goose Up

-- What failed is found and counted without reading what did not: few rows, and no delivery that succeeds enters it.
-- Concurrently, since deliveries may be a large table that is being written to; a first try that was broken off leaves
-- an index that is of no use.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_failed;
CREATE INDEX CONCURRENTLY deliveries_failed ON deliveries (subscription_id, id) WHERE state IN (3, 4);

-- +goose Down
SELECT 'the index stays';
