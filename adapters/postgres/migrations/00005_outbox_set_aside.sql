-- +goose Up

-- Events that the relay cannot file: the table events or the table deliveries refuses them. The relay moves such an outbox row
-- here, so that the events after it are delivered; `admin outbox retry` moves it back and `admin outbox drop` deletes it. The
-- table refuses no row of the outbox, so it has the columns of the outbox and no CHECK.
CREATE TABLE outbox_set_aside (
    event_id     uuid PRIMARY KEY,
    partner_id   uuid NOT NULL,
    name         text NOT NULL,
    deposit_id   uuid,
    data         text NOT NULL,
    created_at   timestamptz NOT NULL,
    committed_at timestamptz NOT NULL,
    set_aside_at timestamptz NOT NULL DEFAULT now(),
    reason       text NOT NULL                                                     -- of the database, for the operator
);

-- +goose Down
SELECT 'events that were set aside are not taken back';
