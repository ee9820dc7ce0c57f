-- +goose NO TRANSACTION
-- +goose Up
-- The statements of operators read a month of collections and of refunds, of all accounts. Collections are a small part of the
-- payments, which payments_settled has all of; both indexes have no row of a payment that only paid a fee.
-- CONCURRENTLY, because the tables may be large and in use. An interrupted CREATE leaves an invalid index; the DROP removes that index.
DROP INDEX CONCURRENTLY IF EXISTS payments_collected;
CREATE INDEX CONCURRENTLY payments_collected ON payments (settled_at) WHERE kind = 'collection' AND status = 'succeeded';
DROP INDEX CONCURRENTLY IF EXISTS refunds_settled;
CREATE INDEX CONCURRENTLY refunds_settled ON refunds (settled_at) WHERE status = 'succeeded';

-- +goose Down
SELECT 'the indexes stay';
