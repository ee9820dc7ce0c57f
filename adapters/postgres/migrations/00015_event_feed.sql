-- +goose Up
-- Numbers the events of each partner 1, 2, 3, … without a gap, in the order in which they are relayed (api.md §5, ADR 0016).

-- The counter of a partner's feed. The relay that holds the lock of the row numbers the events of the partner.
CREATE TABLE event_feeds (
    partner_id      uuid PRIMARY KEY REFERENCES partners,
    last_sequence   bigint NOT NULL DEFAULT 0,                                     -- the last number that an event got
    oldest_sequence bigint NOT NULL DEFAULT 1,                                     -- no event with a lower number is served: retention may have dropped it
    CHECK (oldest_sequence BETWEEN 1 AND last_sequence + 1)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500); -- room, so that an update enters no index

-- A trigger, so that partners whom an older binary creates have a counter, too.
-- +goose StatementBegin
CREATE FUNCTION begin_event_feed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO event_feeds (partner_id) VALUES (NEW.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER partners_have_a_feed AFTER INSERT ON partners FOR EACH ROW EXECUTE FUNCTION begin_event_feed();
INSERT INTO event_feeds (partner_id) SELECT id FROM partners;

-- The order of the outbox. A change of a deposit draws its position while it holds the lock of the deposit's row, so the
-- positions of one deposit are in the order of its commits; an id is made by the clock of some process. Rows from before the
-- migration share position 0, since filling in each would rewrite the table under a lock.
CREATE SEQUENCE outbox_position AS bigint;
ALTER TABLE outbox ADD COLUMN position bigint NOT NULL DEFAULT 0;
ALTER TABLE outbox ALTER COLUMN position SET DEFAULT nextval('outbox_position');
ALTER SEQUENCE outbox_position OWNED BY outbox.position;
CREATE INDEX outbox_in_order ON outbox (position, event_id);

-- NULL: relayed before the migration. The feed begins after these events.
ALTER TABLE events ADD COLUMN sequence bigint;

-- Numbers the events that a relay of an older binary files while both run. Relays of this version number their events
-- themselves.
-- +goose StatementBegin
CREATE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE event_feeds SET last_sequence = last_sequence + 1 WHERE partner_id = NEW.partner_id RETURNING last_sequence INTO NEW.sequence;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_have_a_number BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.sequence IS NULL) EXECUTE FUNCTION number_event();

-- The partitions of events and attempts whose rows are all older than retention.
-- +goose StatementBegin
CREATE FUNCTION expired_partitions(retention interval) RETURNS TABLE (parent text, name text) LANGUAGE sql STABLE AS $$
    SELECT p.relname::text, c.relname::text
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
    WHERE i.inhparent IN ('events'::regclass, 'delivery_attempts'::regclass) AND c.relname ~ '_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD') + 1 < (now() AT TIME ZONE 'UTC')::date - extract(day FROM retention)::integer
    ORDER BY 2
$$;
-- +goose StatementEnd

-- Moves the oldest number of each feed beyond the partitions that drop_expired_partitions is about to drop.
-- +goose StatementBegin
CREATE FUNCTION advance_event_feeds(retention interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    part record;
BEGIN
    FOR part IN SELECT name FROM expired_partitions(retention) WHERE parent = 'events' LOOP
        EXECUTE format('UPDATE event_feeds f SET oldest_sequence = expired.last + 1
            FROM event_feeds g CROSS JOIN LATERAL (SELECT sequence AS last FROM %I e WHERE e.partner_id = g.partner_id AND e.sequence IS NOT NULL
                ORDER BY e.sequence DESC LIMIT 1) expired
            WHERE f.partner_id = g.partner_id AND f.oldest_sequence <= expired.last', part.name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- Drops the partitions whose rows are all older than retention; returns their number. The feeds are advanced in the same
-- transaction, for a binary that does not advance them first.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION drop_expired_partitions(retention interval) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    part    record;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_partitions'));
    PERFORM advance_event_feeds(retention);
    FOR part IN SELECT name FROM expired_partitions(retention) LOOP
        EXECUTE format('DROP TABLE %I', part.name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'the numbers are not taken back';
