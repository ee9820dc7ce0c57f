-- name: KeyChecks :many
SELECT key_id, value FROM key_checks ORDER BY key_id;

-- name: KeepKeyChecks :exec
INSERT INTO key_checks (key_id, value)
SELECT unnest(@key_ids::bigint[]), unnest(@check_values::bytea[]) ON CONFLICT DO NOTHING;

-- name: DropOtherKeyChecks :exec
DELETE FROM key_checks
WHERE (key_id, value) NOT IN (SELECT unnest(@key_ids::bigint[]), unnest(@check_values::bytea[]));
