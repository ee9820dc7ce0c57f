-- +goose Up

-- Replays (core/webhook.Replay) send the deliveries of a subscription again, step by step. A step inserts redeliveries and
-- moves the cursor in the same transaction, so a crash between two steps loses no delivery and repeats none.
CREATE TABLE webhook_replays (
    id              uuid PRIMARY KEY,
    subscription_id uuid NOT NULL REFERENCES webhook_subscriptions,
    range_from      timestamptz NOT NULL,
    range_to        timestamptz NOT NULL,
    status          text NOT NULL CHECK (status IN ('pending', 'retrying', 'succeeded', 'failed')),
    per_second      integer NOT NULL CHECK (per_second > 0),
    matched         integer NOT NULL CHECK (matched >= 0),
    made            integer NOT NULL DEFAULT 0 CHECK (made >= 0),
    cursor_id       uuid,                                                          -- the last repeated delivery; null: none yet
    created_at      timestamptz NOT NULL,
    next_at         timestamptz NOT NULL,
    finished_at     timestamptz,
    CHECK (range_from <= range_to)
);
-- Of the unfinished replays of a subscription, the oldest runs and the others wait.
CREATE INDEX webhook_replays_under_way ON webhook_replays (subscription_id, id) WHERE finished_at IS NULL;

-- +goose Down
SELECT 'replays are not taken back';
