-- +goose Up

-- The history of the server: its identity, and the timeline, which grows with a restore to a point in time and with the
-- promotion of a standby. Empty where the server does not say.
-- +goose StatementBegin
CREATE FUNCTION server_history() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
EXCEPTION WHEN OTHERS THEN
    RETURN '';
END $$;
-- +goose StatementEnd

-- The restore epoch, in a single row. A restore from a backup takes committed changes back, so an answer that Redis caches
-- holds only in the epoch of its commit (operations.md, "Processes"). `admin restore-finish` begins a new epoch.
CREATE TABLE restore_epoch (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    epoch    uuid NOT NULL DEFAULT gen_random_uuid(),
    history  text NOT NULL DEFAULT server_history(),                               -- of the server when the epoch began
    began_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO restore_epoch DEFAULT VALUES;

-- +goose Down
SELECT 'the epoch stays';
