-- Inserts no row when another active link has the account or the external id; the unique indexes decide races.
-- name: InsertLink :execrows
INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at)
VALUES (@id, @partner_id, @account_id, @external_id, @linked_at) ON CONFLICT DO NOTHING;

-- name: LockAccount :exec
SELECT 1 FROM accounts WHERE id = @id FOR NO KEY UPDATE;

-- name: ActiveLinkForUpdate :one
SELECT id, partner_id, account_id, external_id, linked_at, revoked_at FROM account_links
WHERE account_id = @account_id AND revoked_at IS NULL FOR UPDATE;

-- name: ActiveLink :one
SELECT id, partner_id, account_id, external_id, linked_at, revoked_at FROM account_links
WHERE account_id = @account_id AND revoked_at IS NULL;

-- name: ActiveLinkByExternalID :one
SELECT id, partner_id, account_id, external_id, linked_at, revoked_at FROM account_links
WHERE partner_id = @partner_id AND external_id = @external_id AND revoked_at IS NULL;

-- name: NewestLink :one
SELECT l.id, l.partner_id, l.account_id, l.external_id, l.linked_at, l.revoked_at, coalesce(a.max_amount_cents, 0)::bigint AS max_amount_cents
FROM account_links l JOIN accounts a ON a.id = l.account_id
WHERE l.partner_id = @partner_id AND l.account_id = @account_id
ORDER BY l.linked_at DESC, l.id DESC LIMIT 1;

-- name: RevokeLink :execrows
UPDATE account_links SET revoked_at = sqlc.arg(at)::timestamptz, revoked_by = sqlc.arg(revoked_by)::text
WHERE partner_id = @partner_id AND account_id = @account_id AND revoked_at IS NULL;

-- name: LastRevoked :one
SELECT max(revoked_at)::timestamptz AS at FROM account_links WHERE partner_id = @partner_id AND external_id = @external_id AND revoked_at IS NOT NULL;
