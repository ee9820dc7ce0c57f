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
