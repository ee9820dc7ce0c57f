-- name: AppendEvent :exec
WITH e AS (
    INSERT INTO events (id, partner_id, name, deposit_id, data, created_at)
    VALUES (@id, @partner_id, @name, @deposit_id, @data, @created_at) RETURNING events.id)
INSERT INTO outbox (event_id) SELECT e.id FROM e;
