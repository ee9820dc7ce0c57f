-- An older row is one that retention has not reached: its key is free, and the new response replaces it.
-- name: StoreResponse :exec
INSERT INTO idempotency_keys AS k (partner_id, route, key, fingerprint, status, response, created_at)
VALUES (@partner_id, @route, @key, @fingerprint, @status, @response, @created_at)
ON CONFLICT (partner_id, route, key) DO UPDATE
SET fingerprint = excluded.fingerprint, status = excluded.status, response = excluded.response, created_at = excluded.created_at
WHERE k.created_at <= excluded.created_at - sqlc.arg(span)::interval;

-- name: DeleteExpiredResponses :execrows
DELETE FROM idempotency_keys k USING (
    SELECT o.partner_id, o.route, o.key FROM idempotency_keys o WHERE o.created_at < sqlc.arg(before)::timestamptz
    ORDER BY o.created_at LIMIT sqlc.arg(most)::integer FOR UPDATE SKIP LOCKED) old
WHERE k.partner_id = old.partner_id AND k.route = old.route AND k.key = old.key;
