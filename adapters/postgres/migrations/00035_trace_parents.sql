-- +goose Up
-- The span that wrote an event or a delivery, as a W3C traceparent (55 characters), so that the relay and the attempts join the
-- trace of the request. Null while traces are off, and in rows of older binaries.
ALTER TABLE outbox ADD COLUMN trace_parent varchar(55);
ALTER TABLE deliveries ADD COLUMN trace_parent varchar(55);

-- +goose Down
ALTER TABLE outbox DROP COLUMN trace_parent;
ALTER TABLE deliveries DROP COLUMN trace_parent;
