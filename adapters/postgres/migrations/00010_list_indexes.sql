-- +goose NO TRANSACTION
-- +goose Up

-- Indexes of lists, each in the order of its list, for filters that name a few rows among millions. None contains a column that
-- a transition of a deposit changes. CONCURRENTLY, because the tables may be large and in use. An interrupted CREATE leaves an
-- invalid index; the DROP removes that index.

-- The deposits of a booking. Deposits without a rental contract do not enter.
DROP INDEX CONCURRENTLY IF EXISTS deposits_of_contract;
CREATE INDEX CONCURRENTLY deposits_of_contract ON deposits (partner_id, rental_contract, created_at DESC, id DESC) WHERE rental_contract <> '';

-- The deposits of a client. Deposits without a client do not enter.
DROP INDEX CONCURRENTLY IF EXISTS deposits_of_client;
CREATE INDEX CONCURRENTLY deposits_of_client ON deposits (client_id, created_at DESC, id DESC) WHERE client_id IS NOT NULL;

-- The deliveries that tell of a deposit, redeliveries included.
DROP INDEX CONCURRENTLY IF EXISTS deliveries_of_deposit;
CREATE INDEX CONCURRENTLY deliveries_of_deposit ON deliveries (deposit_id, id) WHERE deposit_id IS NOT NULL;

-- Links are written seldom, so their indexes cost little.
DROP INDEX CONCURRENTLY IF EXISTS account_links_of_external_id;
CREATE INDEX CONCURRENTLY account_links_of_external_id ON account_links (partner_id, external_id, linked_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS account_links_active;
CREATE INDEX CONCURRENTLY account_links_active ON account_links (partner_id, linked_at DESC, id DESC) WHERE revoked_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS account_links_ended;
CREATE INDEX CONCURRENTLY account_links_ended ON account_links (partner_id, linked_at DESC, id DESC) WHERE revoked_at IS NOT NULL;

-- The list of all accounts, of the admin CLI.
DROP INDEX CONCURRENTLY IF EXISTS accounts_by_age;
CREATE INDEX CONCURRENTLY accounts_by_age ON accounts (created_at DESC, id DESC);

-- +goose Down
SELECT 'the indexes stay';
