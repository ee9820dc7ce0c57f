-- name: LockSecondFactor :one
SELECT secret, created_at, confirmed_at, last_step FROM second_factors WHERE operator_id = @operator_id FOR UPDATE;

-- name: SaveSecondFactor :exec
INSERT INTO second_factors (operator_id, secret, created_at, confirmed_at, last_step)
VALUES (@operator_id, @secret, @created_at, @confirmed_at, @last_step)
ON CONFLICT (operator_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at, confirmed_at = excluded.confirmed_at, last_step = excluded.last_step;

-- name: DeleteSecondFactor :exec
DELETE FROM second_factors WHERE operator_id = @operator_id;

-- name: DeleteRecoveryCodes :exec
DELETE FROM recovery_codes WHERE operator_id = @operator_id;

-- name: InsertRecoveryCodes :exec
INSERT INTO recovery_codes (operator_id, code_hash) SELECT @operator_id, unnest(sqlc.arg(hashes)::bytea[]);

-- name: UseRecoveryCode :execrows
UPDATE recovery_codes SET used_at = sqlc.arg(at)::timestamptz WHERE operator_id = @operator_id AND code_hash = @code_hash AND used_at IS NULL;

-- name: SecondFactorState :one
SELECT f.confirmed_at, (SELECT count(*) FROM recovery_codes c WHERE c.operator_id = f.operator_id AND c.used_at IS NULL)::integer AS recovery_left
FROM second_factors f WHERE f.operator_id = @operator_id;

-- name: InsertHalfSignIn :exec
INSERT INTO half_sign_ins (token_hash, operator_id, password_mark, created_at, expires_at)
SELECT @token_hash, o.id, sha256(convert_to(o.password_hash, 'UTF8')), @created_at, @expires_at FROM operators o WHERE o.id = @operator_id;

-- name: TakeHalfSignIn :one
DELETE FROM half_sign_ins h USING operators o
WHERE h.token_hash = @token_hash AND h.expires_at > sqlc.arg(at)::timestamptz AND o.id = h.operator_id
    AND h.password_mark = sha256(convert_to(o.password_hash, 'UTF8'))
RETURNING h.operator_id;

-- name: OperatorByHalfSignIn :one
SELECT o.id, o.email, o.password_hash, o.locale, o.created_at, o.verified_at,
    a.id AS account_id, a.company_name, coalesce(a.max_amount_cents, 0)::bigint AS max_amount_cents, a.timezone, a.contact, a.created_at AS account_created_at
FROM half_sign_ins h JOIN operators o ON o.id = h.operator_id JOIN accounts a ON a.operator_id = o.id
WHERE h.token_hash = @token_hash AND h.expires_at > sqlc.arg(at)::timestamptz AND h.password_mark = sha256(convert_to(o.password_hash, 'UTF8'));

-- name: DeleteHalfSignInsOf :exec
DELETE FROM half_sign_ins WHERE operator_id = @operator_id;

-- name: DeleteExpiredHalfSignIns :execrows
DELETE FROM half_sign_ins WHERE token_hash IN (
    SELECT h.token_hash FROM half_sign_ins h WHERE h.expires_at < sqlc.arg(at)::timestamptz ORDER BY h.expires_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED);

-- name: DeleteOldCodeTries :execrows
DELETE FROM code_tries t WHERE (t.operator_id, t.key) IN (
    SELECT c.operator_id, c.key FROM code_tries c WHERE c.since < sqlc.arg(at)::timestamptz ORDER BY c.since LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED);

-- name: CountCodeTry :one
INSERT INTO code_tries AS t (operator_id, key, tries, since) VALUES (@operator_id, @key, 1, sqlc.arg(at)::timestamptz)
ON CONFLICT (operator_id, key) DO UPDATE SET
    tries = CASE WHEN t.since <= sqlc.arg(over)::timestamptz THEN 1 ELSE t.tries + 1 END,
    since = CASE WHEN t.since <= sqlc.arg(over)::timestamptz THEN excluded.since ELSE t.since END
RETURNING t.tries, t.since;

-- name: RefundCodeTry :exec
UPDATE code_tries SET tries = tries - 1 WHERE operator_id = @operator_id AND key = @key AND tries > 0;
