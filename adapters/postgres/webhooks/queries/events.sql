-- name: EventOfPartner :one
SELECT id, partner_id, name, deposit_id, data, created_at, coalesce(sequence, 0)::bigint AS sequence FROM events
WHERE partner_id = @partner_id AND id = @id;

-- name: FeedState :one
SELECT e.epoch, f.oldest_sequence, f.last_sequence FROM event_feeds f CROSS JOIN restore_epoch e
WHERE f.partner_id = @partner_id;

-- name: LastNumbers :many
SELECT partner_id, last_sequence FROM event_feeds WHERE partner_id = ANY (sqlc.arg(partners)::uuid[]);
