-- name: EventOfPartner :one
SELECT id, partner_id, name, deposit_id, data, created_at, coalesce(sequence, 0)::bigint AS sequence FROM events
WHERE partner_id = @partner_id AND id = @id;

-- name: FeedState :one
SELECT e.epoch, f.oldest_sequence, f.last_sequence FROM event_feeds f CROSS JOIN restore_epoch e
WHERE f.partner_id = @partner_id;

-- The bounds of ids are those of partitions: inside one, the index of numbers would lead to all earlier rows of its
-- day. They are values and not now(), so that Postgres plans for these partitions alone.
-- name: FeedEvents :many
SELECT e.id, e.partner_id, e.name, e.deposit_id, e.data, e.created_at, coalesce(e.sequence, 0)::bigint AS sequence
FROM events e
WHERE e.partner_id = @partner_id AND e.sequence > sqlc.arg(after)::bigint AND e.id >= sqlc.arg(first_id)::uuid
    AND e.id < sqlc.arg(last_id)::uuid
ORDER BY e.sequence LIMIT sqlc.arg(max_rows);

-- name: LastNumbers :many
SELECT partner_id, last_sequence FROM event_feeds WHERE partner_id = ANY (sqlc.arg(partners)::uuid[]);
