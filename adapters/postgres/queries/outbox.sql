-- name: AppendEvent :exec
INSERT INTO outbox (event_id, partner_id, name, deposit_id, data, created_at)
VALUES (@id, @partner_id, @name, @deposit_id, @data, @created_at);
