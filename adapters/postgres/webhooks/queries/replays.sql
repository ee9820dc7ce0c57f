-- name: LockReplays :exec
SELECT pg_advisory_xact_lock(hashtextextended('replays:' || sqlc.arg(subscription_id)::uuid::text, 0));

-- Inserts no row when the subscription has as many unfinished replays as it may have.
-- name: InsertReplay :execrows
INSERT INTO webhook_replays (id, subscription_id, range_from, range_to, status, per_second, matched, created_at, next_at)
SELECT sqlc.arg(id)::uuid, sqlc.arg(subscription_id)::uuid, sqlc.arg(range_from)::timestamptz, sqlc.arg(range_to)::timestamptz,
    sqlc.arg(status)::text, sqlc.arg(per_second)::integer, sqlc.arg(matched)::integer, sqlc.arg(created_at)::timestamptz,
    sqlc.arg(next_at)::timestamptz
WHERE (SELECT count(*) FROM webhook_replays r WHERE r.subscription_id = @subscription_id AND r.finished_at IS NULL)
    < sqlc.arg(max_rows)::integer;

-- A replay of a disabled subscription waits. A replay of a deleted subscription is given, so that the caller ends it.
-- A subscription's oldest unfinished replay comes first. Of a partner's subscriptions, the one whose replay has waited
-- longest comes first. The lock on the partner's row makes the partner's pace hold over all dispatchers.
-- name: NextReplay :one
SELECT r.id, r.subscription_id, r.range_from, r.range_to, r.status, r.per_second, r.matched, r.made, r.cursor_id, r.created_at, r.next_at, r.finished_at,
    p.replays_paced_until AS paced_until
FROM webhook_replays r JOIN webhook_subscriptions s ON s.id = r.subscription_id JOIN partners p ON p.id = s.partner_id
WHERE r.finished_at IS NULL AND r.next_at <= sqlc.arg(at)::timestamptz AND (s.enabled OR s.deleted_at IS NOT NULL)
    AND (p.replays_paced_until IS NULL OR p.replays_paced_until <= sqlc.arg(at)::timestamptz)
    AND NOT EXISTS (SELECT FROM webhook_replays o WHERE o.subscription_id = r.subscription_id AND o.finished_at IS NULL AND o.id < r.id)
ORDER BY r.next_at, r.id LIMIT 1 FOR NO KEY UPDATE OF p, r SKIP LOCKED;

-- name: WaitingRedeliveries :one
SELECT count(*)::integer FROM (
    SELECT state, attempts, redelivery_of FROM deliveries WHERE subscription_id = @subscription_id ORDER BY id DESC LIMIT sqlc.arg(max_rows)::integer) d
WHERE d.redelivery_of IS NOT NULL AND d.state IN (0, 1) AND d.attempts = 0;

-- Each step moves next_at, so an unchanged next_at proves that no other process has made the step.
-- name: UpdateReplay :exec
WITH moved AS (
    UPDATE webhook_replays r SET made = @made, cursor_id = sqlc.narg(cursor_id), next_at = @next_at, finished_at = sqlc.narg(finished_at)
    WHERE r.id = @id AND r.next_at = sqlc.arg(was_next_at)::timestamptz AND r.finished_at IS NULL RETURNING r.subscription_id)
UPDATE partners p SET replays_paced_until = sqlc.narg(paced_until)
FROM moved m JOIN webhook_subscriptions s ON s.id = m.subscription_id
WHERE p.id = s.partner_id AND (p.replays_paced_until IS NULL OR p.replays_paced_until < sqlc.narg(paced_until));

-- name: DeleteFinishedReplays :execrows
DELETE FROM webhook_replays WHERE id = ANY (ARRAY (
    SELECT r.id FROM webhook_replays r WHERE r.id < uuid_floor(sqlc.arg(at)::timestamptz) AND r.finished_at IS NOT NULL ORDER BY r.id LIMIT sqlc.arg(max_rows)::integer));

-- name: ReplayByID :one
SELECT id, subscription_id, range_from, range_to, status, per_second, matched, made, cursor_id, created_at, next_at,
    finished_at, NULL::timestamptz AS paced_until
FROM webhook_replays WHERE id = @id;

-- name: UnfinishedReplays :one
SELECT count(*)::integer FROM webhook_replays WHERE subscription_id = @subscription_id AND finished_at IS NULL;
