-- +goose NO TRANSACTION
-- +goose Up

-- The names of the clients from before the trigger, 2,000 clients a transaction. The clients of a block are locked, so that a change or an
-- erasure comes before, and is read, or after, and replaces the rows: it waits for some tens of milliseconds. A migration that was
-- interrupted begins anew.
-- +goose StatementBegin
DO $$
DECLARE
    last uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
    LOOP
        WITH block AS MATERIALIZED (
            SELECT id, account_id, first_name, last_name FROM clients WHERE id > last ORDER BY id LIMIT 2000 FOR SHARE),
        named AS (
            INSERT INTO client_names (account_id, words, client_id)
            SELECT account_id, words, id FROM block, unnest(rotated_names(first_name, last_name)) AS words
            ON CONFLICT DO NOTHING)
        SELECT id INTO last FROM block ORDER BY id DESC LIMIT 1;
        EXIT WHEN last IS NULL;
        COMMIT;
    END LOOP;
END $$;
-- +goose StatementEnd
-- Pages that a vacuum has seen are read from the index alone.
VACUUM (ANALYZE) client_names;

-- The digits at the end of a booking. No regular expression, which would cost an INSERT several times as much.
DROP INDEX CONCURRENTLY IF EXISTS deposits_of_booking_digits;
CREATE INDEX CONCURRENTLY deposits_of_booking_digits ON deposits (account_id, (substr(rental_contract, length(rtrim(rental_contract, '0123456789')) + 1) COLLATE "C")) WHERE rental_contract <> '';

-- The unique index of references anew, byte by byte: such an index finds the beginnings of references, too, and costs an INSERT nothing more
-- than the one that it replaces in the next migration.
DROP INDEX CONCURRENTLY IF EXISTS deposits_by_reference;
CREATE UNIQUE INDEX CONCURRENTLY deposits_by_reference ON deposits (reference text_pattern_ops);

-- +goose Down
SELECT 'the indexes stay';
