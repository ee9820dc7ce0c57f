-- name: AppendEvent :exec
WITH e AS (
    INSERT INTO events (id, partner_id, name, deposit_id, data, created_at)
    VALUES (@id, @partner_id, @name, @deposit_id, @data, @created_at) RETURNING events.id, events.partner_id)
INSERT INTO outbox (event_id, partner_id) SELECT e.id, e.partner_id FROM e;
