-- name: DeleteExpiredResponses :execrows
DELETE FROM idempotency_keys k USING (
    SELECT o.partner_id, o.route, o.key FROM idempotency_keys o WHERE o.created_at < sqlc.arg(before)::timestamptz
    ORDER BY o.created_at LIMIT sqlc.arg(max_rows)::integer FOR UPDATE SKIP LOCKED) old
WHERE k.partner_id = old.partner_id AND k.route = old.route AND k.key = old.key;
