-- +goose NO TRANSACTION
-- +goose Up
-- `admin audit export` reads the audit log of a time in order, page by page.
-- CONCURRENTLY, because the table may be large and in use. An interrupted CREATE leaves an invalid index; the DROP
-- removes that index.
DROP INDEX CONCURRENTLY IF EXISTS audit_log_in_order;
CREATE INDEX CONCURRENTLY audit_log_in_order ON audit_log (at, id);

-- +goose Down
SELECT 'the index stays';
