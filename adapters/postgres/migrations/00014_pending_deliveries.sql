-- +goose NO TRANSACTION
-- +goose Up

-- Counts the pending deliveries of a subscription and finds the oldest. A delivery that is sent at once and succeeds never enters.
-- The condition is one that only the statement of reports states (adapters/postgres/reports.go): other statements about
-- deliveries that wait need due_at, and would read the parked ones here.
-- CONCURRENTLY, because the table may be large and in use. An interrupted CREATE leaves an invalid index; the DROP removes that
-- index.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_pending;
CREATE INDEX CONCURRENTLY deliveries_pending ON deliveries (subscription_id, id) WHERE state + 0 = 0;

-- +goose Down
SELECT 'the index stays';
