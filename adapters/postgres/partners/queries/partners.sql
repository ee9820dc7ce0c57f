-- name: InsertPartner :exec
INSERT INTO partners (id, slug, name, contact_email, return_origins, rate_limit_per_minute, connect_secret, created_at)
VALUES (@id, @slug, @name, @contact_email, @return_origins, nullif(@rate_limit_per_minute::integer, 0), sqlc.narg(connect_secret), @created_at);

-- name: PartnerForUpdate :one
SELECT id, slug, name, contact_email, return_origins, coalesce(rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (connect_secret IS NOT NULL)::boolean AS has_connect_secret, created_at
FROM partners WHERE slug = @slug FOR NO KEY UPDATE;

-- name: UpdatePartner :execrows
UPDATE partners SET name = @name, contact_email = @contact_email, return_origins = @return_origins WHERE id = @id;

-- name: SetConnectSecret :execrows
UPDATE partners SET connect_secret = sqlc.narg(connect_secret) WHERE id = @id;

-- name: SetRateLimit :execrows
UPDATE partners SET rate_limit_per_minute = nullif(@rate_limit_per_minute::integer, 0) WHERE id = @id;

-- The lock on the partner's row makes the limit of live keys hold under concurrent inserts.
-- name: LockPartner :exec
SELECT 1 FROM partners WHERE id = @id FOR NO KEY UPDATE;

-- Inserts no row when the limit of live keys is reached. LockPartner comes before.
-- name: InsertKey :execrows
INSERT INTO api_keys (id, partner_id, name, prefix, last4, hash, created_at)
SELECT sqlc.arg(id)::uuid, @partner_id, sqlc.arg(name)::text, sqlc.arg(prefix)::text, sqlc.arg(last4)::text, sqlc.arg(hash)::bytea,
    sqlc.arg(created_at)::timestamptz
WHERE (SELECT count(*) FROM api_keys k WHERE k.partner_id = @partner_id AND k.revoked_at IS NULL) < sqlc.arg(max_rows)::integer;

-- name: KeyForUpdate :one
SELECT k.hash, k.id, k.partner_id, k.name, k.prefix, k.last4, k.created_at, k.last_used_at, k.revoked_at,
    p.slug, p.name AS partner_name, p.contact_email, p.return_origins, coalesce(p.rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (p.connect_secret IS NOT NULL)::boolean AS has_connect_secret, p.created_at AS partner_created_at
FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.id = @id FOR NO KEY UPDATE OF k;

-- name: RevokeKey :one
UPDATE api_keys SET revoked_at = coalesce(revoked_at, sqlc.arg(at)::timestamptz) WHERE id = @id
RETURNING id, partner_id, name, prefix, last4, created_at, last_used_at, revoked_at;

-- name: PartnerBySlug :one
SELECT id, slug, name, contact_email, return_origins, coalesce(rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (connect_secret IS NOT NULL)::boolean AS has_connect_secret, created_at
FROM partners WHERE slug = @slug;

-- name: PartnerByID :one
SELECT id, slug, name, contact_email, return_origins, coalesce(rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (connect_secret IS NOT NULL)::boolean AS has_connect_secret, created_at
FROM partners WHERE id = @id;

-- name: Partners :many
SELECT id, slug, name, contact_email, return_origins, coalesce(rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (connect_secret IS NOT NULL)::boolean AS has_connect_secret, created_at
FROM partners ORDER BY created_at, id;

-- name: ConnectSecret :one
SELECT connect_secret FROM partners WHERE id = @id;

-- name: KeysByHash :many
SELECT k.hash, k.id, k.partner_id, k.name, k.prefix, k.last4, k.created_at, k.last_used_at, k.revoked_at,
    p.slug, p.name AS partner_name, p.contact_email, p.return_origins, coalesce(p.rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (p.connect_secret IS NOT NULL)::boolean AS has_connect_secret, p.created_at AS partner_created_at
FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.hash = ANY (@hashes::bytea[]);

-- A key that another transaction writes is left out: two processes that record the same keys would wait for each other, in
-- different orders.
-- name: RecordKeyUses :exec
UPDATE api_keys k SET last_used_at = t.at
FROM (
    SELECT free.id, used.at FROM (SELECT unnest(@ids::uuid[]) AS id, unnest(@times::timestamptz[]) AS at) used
    JOIN api_keys free ON free.id = used.id FOR NO KEY UPDATE OF free SKIP LOCKED) t
WHERE k.id = t.id AND (k.last_used_at IS NULL OR k.last_used_at < t.at);
