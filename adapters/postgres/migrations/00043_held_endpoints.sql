-- +goose Up
-- The last time in which the circuit of an endpoint held its deliveries back (core/webhook.Held): their start is late by that
-- time, and not by a dispatcher's doing. Null: never, or only under older binaries.
ALTER TABLE webhook_subscriptions
    ADD COLUMN held_from   timestamptz,
    ADD COLUMN held_till   timestamptz,                                            -- null: the time goes on
    ADD COLUMN unconnected boolean NOT NULL DEFAULT false;                         -- the last failed attempt was a time-out before a connection stood

-- +goose Down
SELECT 'the columns stay';
