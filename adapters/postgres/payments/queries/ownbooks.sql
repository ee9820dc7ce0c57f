-- name: AccountsDue :many
WITH moved AS (
    SELECT p.deposit_id, p.amount_cents AS collected, 0 AS refunded FROM payments p
    WHERE p.kind = 'collection' AND p.status = 'succeeded'
        AND p.settled_at >= sqlc.arg(since)::timestamptz AND p.settled_at < sqlc.arg(before)::timestamptz
    UNION ALL
    SELECT r.deposit_id, 0, r.amount_cents FROM refunds r JOIN payments p ON p.id = r.payment_id
    WHERE p.kind = 'collection' AND p.status = 'succeeded' AND r.status = 'succeeded'
        AND r.settled_at >= sqlc.arg(since)::timestamptz AND r.settled_at < sqlc.arg(before)::timestamptz)
SELECT a.id, a.company_name, sum(m.collected)::bigint AS collected, sum(m.refunded)::bigint AS refunded
FROM moved m JOIN deposits d ON d.id = m.deposit_id JOIN accounts a ON a.id = d.account_id
GROUP BY a.id, a.company_name ORDER BY a.company_name, a.id;

-- Changes no row if another comparison has begun since, unless it began by retry and has not ended.
-- name: BeginReconciliation :execrows
INSERT INTO reconciliations AS r (id, begun_at) VALUES (1, sqlc.arg(now)::timestamptz)
ON CONFLICT (id) DO UPDATE SET begun_at = sqlc.arg(now)::timestamptz
WHERE r.begun_at <= sqlc.arg(since)::timestamptz
    OR (r.begun_at <= sqlc.arg(retry)::timestamptz AND (r.ended_at IS NULL OR r.ended_at < r.begun_at));

-- name: EndReconciliation :exec
UPDATE reconciliations SET ended_at = @ended_at, checked = @checked, differences = @differences WHERE id = 1;

-- name: LastReconciliation :one
SELECT ended_at, checked, differences FROM reconciliations WHERE id = 1;
