-- +goose Up
-- Counts the deliveries of each subscription that wait, parked ones too (state 0), so that a partner reads their number without a count
-- over deliveries: such a count visits each row that has changed since the last vacuum (ADR 0012). A row is a change of the number, and the
-- sum of a subscription's rows is the number. So no transaction waits for another, and each snapshot has the number of its deliveries.
CREATE TABLE waiting_counts (
    subscription_id uuid NOT NULL,
    n               bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX waiting_counts_of_subscription ON waiting_counts (subscription_id);

-- Triggers, so that every statement counts, those of older binaries too. A statement that neither brings nor takes waiting deliveries, such
-- as those of a delivery that is sent at once and succeeds, writes nothing. About every 32nd change adds up the rows of its subscriptions
-- that no other transaction holds.
-- +goose StatementBegin
CREATE FUNCTION count_waiting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO waiting_counts (subscription_id, n) SELECT subscription_id, count(*) FROM added WHERE state = 0 GROUP BY subscription_id;
        IF FOUND AND random() < 1.0 / 32 THEN
            PERFORM add_up_waiting(ARRAY (SELECT DISTINCT subscription_id FROM added));
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO waiting_counts (subscription_id, n)
        SELECT subscription_id, sum(n) FROM (
            SELECT subscription_id, -1 AS n FROM removed WHERE state = 0
            UNION ALL SELECT subscription_id, 1 FROM added WHERE state = 0) AS changes
        GROUP BY subscription_id HAVING sum(n) <> 0;
        IF FOUND AND random() < 1.0 / 32 THEN
            PERFORM add_up_waiting(ARRAY (SELECT DISTINCT subscription_id FROM added));
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO waiting_counts (subscription_id, n) SELECT subscription_id, -count(*) FROM removed WHERE state = 0 GROUP BY subscription_id;
    ELSE -- TRUNCATE
        DELETE FROM waiting_counts;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION add_up_waiting(subscriptions uuid[]) RETURNS void LANGUAGE sql AS $$
    WITH added_up AS (
        DELETE FROM waiting_counts WHERE ctid = ANY (ARRAY (
            SELECT c.ctid FROM waiting_counts c WHERE c.subscription_id = ANY (subscriptions) LIMIT 1000 FOR UPDATE SKIP LOCKED))
        RETURNING subscription_id, n)
    INSERT INTO waiting_counts (subscription_id, n)
    SELECT subscription_id, sum(n) FROM added_up GROUP BY subscription_id HAVING sum(n) <> 0
$$;
-- +goose StatementEnd

-- The lock of the triggers keeps deliveries unchanged until the commit, so the first count is exact. The index deliveries_pending answers it:
-- a moment for each 100,000 deliveries that wait.
CREATE TRIGGER waiting_is_counted_on_insert AFTER INSERT ON deliveries REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_waiting();
CREATE TRIGGER waiting_is_counted_on_update AFTER UPDATE ON deliveries REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_waiting();
CREATE TRIGGER waiting_is_counted_on_delete AFTER DELETE ON deliveries REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_waiting();
CREATE TRIGGER waiting_is_counted_on_truncate AFTER TRUNCATE ON deliveries FOR EACH STATEMENT EXECUTE FUNCTION count_waiting();
INSERT INTO waiting_counts (subscription_id, n) SELECT subscription_id, count(*) FROM deliveries WHERE state + 0 = 0 GROUP BY subscription_id;

-- +goose Down
SELECT 'the counts stay';
