-- +goose NO TRANSACTION
-- +goose Up
-- Tells until when the finished replays of a subscription have used its pace.
DROP INDEX CONCURRENTLY IF EXISTS webhook_replays_paced;
CREATE INDEX CONCURRENTLY webhook_replays_paced ON webhook_replays (subscription_id, next_at) WHERE finished_at IS NOT NULL;

-- +goose Down
SELECT 'the index stays';
