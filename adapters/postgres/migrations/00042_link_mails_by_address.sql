-- +goose NO TRANSACTION
-- +goose Up
-- Counts the mails with a link that an account sends to an address. ASCII letters are compared in lower case.
DROP INDEX CONCURRENTLY IF EXISTS mails_with_link_to;
CREATE INDEX CONCURRENTLY mails_with_link_to ON mails (lower(recipient COLLATE "C"), created_at) WHERE link_of IS NOT NULL;

-- +goose Down
SELECT 'the index stays';
