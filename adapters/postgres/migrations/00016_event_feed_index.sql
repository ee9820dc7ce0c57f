-- +goose NO TRANSACTION
-- +goose Up

-- Finds the events of a feed by their numbers. Not CONCURRENTLY, which no partitioned table has: each partition gets its index
-- in a transaction of its own. A relay waits while the partition of the day is read, and no request does, since requests write
-- to the outbox. CREATE INDEX on the parent then adopts the indexes and builds none but those of empty partitions.
-- +goose StatementBegin
DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'events'::regclass ORDER BY c.relname
    LOOP
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I (partner_id, sequence) WHERE sequence IS NOT NULL', part.relname || '_partner_id_sequence_idx', part.relname);
        COMMIT;
    END LOOP;
END $$;
-- +goose StatementEnd
CREATE INDEX IF NOT EXISTS events_feed ON events (partner_id, sequence) WHERE sequence IS NOT NULL;

-- +goose Down
SELECT 'the index stays';
