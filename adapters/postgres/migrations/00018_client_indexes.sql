-- +goose NO TRANSACTION
-- +goose Up

-- The lists of clients: of a partner, of a partner at an account, and of an e-mail address. Erased clients do not enter.
DROP INDEX CONCURRENTLY IF EXISTS clients_of_partner;
CREATE INDEX CONCURRENTLY clients_of_partner ON clients (partner_id, created_at DESC, id DESC) WHERE erased_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS clients_of_link;
CREATE INDEX CONCURRENTLY clients_of_link ON clients (partner_id, account_id, created_at DESC, id DESC) WHERE erased_at IS NULL;
-- "C" folds ASCII letters alone, as mailaddr.Normal does.
DROP INDEX CONCURRENTLY IF EXISTS clients_by_email;
CREATE INDEX CONCURRENTLY clients_by_email ON clients (partner_id, lower(email COLLATE "C"), created_at DESC, id DESC) WHERE erased_at IS NULL;

-- No statement reads the clients of an account whichever partner they belong to.
DROP INDEX CONCURRENTLY IF EXISTS clients_of_account;

ALTER TABLE clients VALIDATE CONSTRAINT erased_clients_have_no_locale;

-- +goose Down
SELECT 'the indexes stay';
