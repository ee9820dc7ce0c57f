-- +goose Up
-- The request that wrote an event or a delivery, so that the log line of an attempt names it. Null for changes of the clock and of
-- commands, and in rows of older binaries.
ALTER TABLE outbox ADD COLUMN request_id text;
ALTER TABLE deliveries ADD COLUMN request_id text;

-- +goose Down
SELECT 'the columns stay';
