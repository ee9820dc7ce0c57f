-- name: InsertPartner :exec
INSERT INTO partners (id, slug, name, contact_email, return_origins, rate_limit_per_minute, connect_secret, created_at)
VALUES (@id, @slug, @name, @contact_email, @return_origins, nullif(@rate_limit_per_minute::integer, 0), sqlc.narg(connect_secret), @created_at);

-- name: SetConnectSecret :execrows
UPDATE partners SET connect_secret = sqlc.narg(connect_secret) WHERE id = @id;

-- name: SetRateLimit :execrows
UPDATE partners SET rate_limit_per_minute = nullif(@rate_limit_per_minute::integer, 0) WHERE id = @id;

-- name: InsertKey :exec
INSERT INTO api_keys (id, partner_id, name, prefix, last4, hash, created_at)
VALUES (@id, @partner_id, @name, @prefix, @last4, @hash, @created_at);

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

-- name: Keys :many
SELECT id, partner_id, name, prefix, last4, created_at, last_used_at, revoked_at
FROM api_keys WHERE partner_id = @partner_id ORDER BY created_at DESC, id DESC;

-- name: KeyByHash :one
SELECT k.id, k.partner_id, k.name, k.prefix, k.last4, k.created_at, k.last_used_at, k.revoked_at,
    p.slug, p.name AS partner_name, p.contact_email, p.return_origins, coalesce(p.rate_limit_per_minute, 0)::integer AS rate_limit_per_minute,
    (p.connect_secret IS NOT NULL)::boolean AS has_connect_secret, p.created_at AS partner_created_at
FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.hash = @hash;

-- name: RecordKeyUses :exec
UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, t.at)
FROM (SELECT unnest(@ids::uuid[]) AS id, unnest(@times::timestamptz[]) AS at) t WHERE k.id = t.id;
