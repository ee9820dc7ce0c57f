-- +goose NO TRANSACTION
-- +goose Up

-- Indexes of the look-ups for support staff. CONCURRENTLY, because the tables may be large and in use. An interrupted CREATE
-- leaves an invalid index; the DROP removes that index.
DROP INDEX CONCURRENTLY IF EXISTS audit_log_of_request;
CREATE INDEX CONCURRENTLY audit_log_of_request ON audit_log (request_id, at DESC) WHERE request_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS audit_log_of_actor;
CREATE INDEX CONCURRENTLY audit_log_of_actor ON audit_log (actor, at DESC);

-- The clients with an e-mail address. The collation folds ASCII letters only.
DROP INDEX CONCURRENTLY IF EXISTS clients_of_email;
CREATE INDEX CONCURRENTLY clients_of_email ON clients (lower(email COLLATE "C"), created_at DESC, id DESC) WHERE erased_at IS NULL;

-- +goose Down
SELECT 'the indexes stay';
