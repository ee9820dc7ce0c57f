-- +goose NO TRANSACTION
-- +goose Up

-- A partner makes and deletes its API keys by itself, so its revoked keys may be many. CONCURRENTLY, because each request may
-- read the table. An interrupted CREATE leaves an invalid index; the DROP removes that index.

-- The list of a partner's keys, in its order. The index replaces api_keys_of_partner, which lacks the id.
DROP INDEX CONCURRENTLY IF EXISTS api_keys_by_age;
CREATE INDEX CONCURRENTLY api_keys_by_age ON api_keys (partner_id, created_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS api_keys_of_partner;

-- The keys that count towards a partner's limit.
DROP INDEX CONCURRENTLY IF EXISTS api_keys_live;
CREATE INDEX CONCURRENTLY api_keys_live ON api_keys (partner_id) WHERE revoked_at IS NULL;

-- +goose Down
SELECT 'the indexes stay';
