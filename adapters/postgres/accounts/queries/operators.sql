-- Inserts the operator and the account together. Inserts no row when the e-mail is taken.
-- name: InsertOperator :execrows
WITH o AS (
    INSERT INTO operators (id, email, email_key, password_hash, locale, created_at)
    VALUES (@id, @email, @email_key, @password_hash, @locale, @created_at)
    ON CONFLICT (email_key) DO NOTHING RETURNING operators.id)
INSERT INTO accounts (id, operator_id, company_name, max_amount_cents, created_at)
SELECT sqlc.arg(account_id)::uuid, o.id, sqlc.arg(company_name)::text, nullif(sqlc.arg(max_amount_cents)::bigint, 0), sqlc.arg(account_created_at)::timestamptz FROM o;

-- name: InsertSession :exec
INSERT INTO sessions (token_hash, operator_id, browser, created_at, last_seen_at, expires_at)
VALUES (@token_hash, @operator_id, @browser, @created_at, @last_seen_at, @expires_at);

-- Keeps the network of a sign-in and removes the operator's networks that have been unused for too long.
-- name: RecordNetwork :exec
WITH unused AS (
    DELETE FROM operator_networks n WHERE n.operator_id = @operator_id AND n.last_at < sqlc.arg(unused_since)::timestamptz AND n.network <> @network)
INSERT INTO operator_networks (operator_id, network, last_at) VALUES (@operator_id, @network, sqlc.arg(at)::timestamptz)
ON CONFLICT (operator_id, network) DO UPDATE SET last_at = greatest(operator_networks.last_at, excluded.last_at);

-- name: NetworkKnown :one
SELECT EXISTS (SELECT FROM operator_networks WHERE operator_id = @operator_id AND network = @network AND last_at >= sqlc.arg(since)::timestamptz);

-- name: DeleteSession :exec
DELETE FROM sessions WHERE token_hash = @token_hash;

-- name: DeleteSessionsOf :execrows
DELETE FROM sessions WHERE operator_id = @operator_id;

-- The sessions that have not ended, the last used first.
-- name: SessionsOf :many
SELECT token_hash, operator_id, browser, created_at, last_seen_at, expires_at FROM sessions
WHERE operator_id = @operator_id AND expires_at > sqlc.arg(at)::timestamptz AND last_seen_at > sqlc.arg(used_after)::timestamptz
ORDER BY last_seen_at DESC, created_at DESC LIMIT sqlc.arg(max_rows)::integer;

-- name: DeleteExpiredSessions :execrows
DELETE FROM sessions WHERE token_hash IN (
    SELECT s.token_hash FROM sessions s WHERE s.expires_at < sqlc.arg(at)::timestamptz ORDER BY s.expires_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED);

-- name: SetLastSeen :exec
UPDATE sessions SET last_seen_at = sqlc.arg(at)::timestamptz WHERE token_hash = @token_hash AND last_seen_at < sqlc.arg(at)::timestamptz;

-- name: SetCeiling :execrows
UPDATE accounts SET max_amount_cents = nullif(sqlc.arg(max_amount_cents)::bigint, 0) WHERE id = @id;

-- name: OperatorByEmail :one
SELECT o.id, o.email, o.password_hash, o.locale, o.created_at, o.verified_at,
    a.id AS account_id, a.company_name, coalesce(a.max_amount_cents, 0)::bigint AS max_amount_cents, a.timezone, a.contact, a.created_at AS account_created_at
FROM operators o JOIN accounts a ON a.operator_id = o.id WHERE o.email_key = @email_key;

-- name: OperatorBySession :one
SELECT o.id, o.email, o.password_hash, o.locale, o.created_at, o.verified_at,
    a.id AS account_id, a.company_name, coalesce(a.max_amount_cents, 0)::bigint AS max_amount_cents, a.timezone, a.contact, a.created_at AS account_created_at, s.last_seen_at
FROM sessions s JOIN operators o ON o.id = s.operator_id JOIN accounts a ON a.operator_id = o.id
WHERE s.token_hash = @token_hash AND s.expires_at > sqlc.arg(at)::timestamptz AND s.last_seen_at > sqlc.arg(used_after)::timestamptz;

-- name: AccountByID :one
SELECT o.id, o.email, o.password_hash, o.locale, o.created_at, o.verified_at,
    a.id AS account_id, a.company_name, coalesce(a.max_amount_cents, 0)::bigint AS max_amount_cents, a.timezone, a.contact, a.created_at AS account_created_at
FROM accounts a JOIN operators o ON o.id = a.operator_id WHERE a.id = @id;

-- Locks the operator, so that log-ins, and changes of password and address, follow one another.
-- name: LockOperator :one
SELECT id, email, password_hash, locale, created_at, verified_at FROM operators WHERE id = @id FOR NO KEY UPDATE;

-- name: UpdateOperator :exec
UPDATE operators SET email = @email, email_key = @email_key, password_hash = @password_hash, verified_at = @verified_at, locale = @locale WHERE id = @id;

-- name: ChangeAccount :execrows
UPDATE accounts SET company_name = coalesce(sqlc.narg(company_name), company_name),
    contact = coalesce(sqlc.narg(contact), contact),
    timezone = coalesce(sqlc.narg(timezone), timezone) WHERE id = @id;

-- name: InsertToken :exec
INSERT INTO operator_tokens (token_hash, operator_id, kind, email, created_at, expires_at)
VALUES (@token_hash, @operator_id, @kind, @email, @created_at, @expires_at);

-- name: TokenByHash :one
SELECT t.operator_id, t.kind, t.email, t.created_at, t.expires_at,
    o.email AS operator_email, o.password_hash, o.created_at AS operator_created_at, o.verified_at, o.locale
FROM operator_tokens t JOIN operators o ON o.id = t.operator_id
WHERE t.token_hash = @token_hash AND t.used_at IS NULL AND t.expires_at > sqlc.arg(at)::timestamptz;

-- name: UseTokens :exec
UPDATE operator_tokens SET used_at = sqlc.arg(at)::timestamptz
WHERE operator_id = @operator_id AND used_at IS NULL AND kind = ANY (sqlc.arg(kinds)::text[]);

-- name: CountTokens :one
SELECT count(*) FROM operator_tokens WHERE operator_id = @operator_id AND kind = @kind AND created_at > @since;

-- name: CountLiveTokens :one
SELECT count(*) FROM operator_tokens WHERE operator_id = @operator_id AND kind = @kind AND used_at IS NULL AND expires_at > sqlc.arg(at)::timestamptz;

-- name: DeleteExpiredTokens :execrows
DELETE FROM operator_tokens WHERE token_hash IN (
    SELECT t.token_hash FROM operator_tokens t WHERE t.expires_at < sqlc.arg(at)::timestamptz ORDER BY t.expires_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED);

-- name: InsertPasswordRequest :exec
INSERT INTO password_requests (id, email, locale, created_at, locked_out) VALUES (@id, @email, @locale, @created_at, @locked_out);

-- Takes requests, oldest first, which no other transaction gets.
-- name: TakePasswordRequests :many
DELETE FROM password_requests WHERE id IN (
    SELECT r.id FROM password_requests r ORDER BY r.id LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED)
RETURNING id, email, locale, created_at, locked_out;

-- name: WantsCoverMails :one
SELECT cover_mails FROM operators WHERE id = @id;

-- name: SetCoverMails :exec
UPDATE operators SET cover_mails = @wanted WHERE id = @id;

-- name: AccountOfOperator :one
SELECT id FROM accounts WHERE operator_id = @operator_id;
