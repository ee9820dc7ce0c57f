-- name: SetAsideEvents :many
SELECT event_id AS id, partner_id, name, deposit_id, created_at, set_aside_at AS at, reason FROM outbox_set_aside
ORDER BY event_id LIMIT sqlc.arg(max_rows);

-- name: RetryEvent :one
WITH taken AS (DELETE FROM outbox_set_aside o WHERE o.event_id = @event_id RETURNING *),
back AS (
    INSERT INTO outbox (event_id, partner_id, name, deposit_id, data, created_at, committed_at)
    SELECT t.event_id, t.partner_id, t.name, t.deposit_id, t.data, t.created_at, t.committed_at FROM taken t)
SELECT event_id AS id, partner_id, name, deposit_id, created_at, set_aside_at AS at, reason FROM taken;

-- name: DropEvent :one
DELETE FROM outbox_set_aside WHERE event_id = @event_id
RETURNING event_id AS id, partner_id, name, deposit_id, created_at, set_aside_at AS at, reason;
