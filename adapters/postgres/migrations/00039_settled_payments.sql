-- +goose NO TRANSACTION
-- +goose Up
-- Payments that succeeded, in the order of their success, for the comparison with the provider's books.
DROP INDEX CONCURRENTLY IF EXISTS payments_settled;
CREATE INDEX CONCURRENTLY payments_settled ON payments (settled_at) WHERE status = 'succeeded';

-- +goose Down
SELECT 'the index stays';
