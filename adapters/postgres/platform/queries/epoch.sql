-- name: RestoreEpoch :one
SELECT e.epoch, e.history, server_history()::text AS server,
    (SELECT d.oid::text FROM pg_catalog.pg_database d WHERE d.datname = current_database())::text AS database
FROM restore_epoch e;

-- name: BeginEpoch :execrows
UPDATE restore_epoch SET epoch = @epoch, history = server_history(), began_at = @began_at;
