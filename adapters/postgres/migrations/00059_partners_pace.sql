-- +goose Up
-- Until when the replays of a partner have used its pace (core/webhook.Replay); null: no replay has made a step.
ALTER TABLE partners ADD COLUMN replays_paced_until timestamptz;
-- contract: webhook_replays_paced unused since 0
DROP INDEX webhook_replays_paced;

-- +goose Down
SELECT 'the column stays';
