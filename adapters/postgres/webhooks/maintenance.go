package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// EndParkedDeliveries ends and returns old deliveries that wait because their subscription is disabled.
func (s RetentionStore) EndParkedDeliveries(ctx context.Context, at time.Time,
	limit int) ([]webhookports.EndedDelivery, error) {
	rows, err := s.DB.Query(ctx, `
		WITH RECURSIVE subscriptions(id) AS (
			(SELECT subscription_id FROM deliveries WHERE state = 0 AND due_at IS NULL ORDER BY subscription_id LIMIT 1)
			UNION ALL
			SELECT (SELECT d.subscription_id FROM deliveries d WHERE d.state = 0 AND d.due_at IS NULL
			AND d.subscription_id > s.id
				ORDER BY d.subscription_id LIMIT 1)
			FROM subscriptions s WHERE s.id IS NOT NULL),
		old AS (
			SELECT o.subscription_id, o.id FROM subscriptions s CROSS JOIN LATERAL (
				SELECT d.subscription_id, d.id FROM deliveries d
				WHERE d.subscription_id = s.id AND d.id < uuid_floor($1) AND d.state = 0 AND d.due_at IS NULL
				ORDER BY d.id LIMIT $2 FOR UPDATE SKIP LOCKED) o
			LIMIT $2)
		UPDATE deliveries d SET state = 3, finished_at = now(), failure_reason = $3 FROM old
		WHERE d.subscription_id = old.subscription_id AND d.id = old.id RETURNING d.subscription_id, d.event, d.event_at`, at,
		limit, webhook.FailureWebhookDisabled)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[webhookports.EndedDelivery])
}

// DeleteFinishedDeliveries deletes deliveries that ended long ago, and returns their number.
func (s RetentionStore) DeleteFinishedDeliveries(ctx context.Context, at, endedBy time.Time, limit int) (int, error) {
	tag, err := s.DB.Exec(ctx, `
		WITH RECURSIVE subscriptions(id) AS (
			(SELECT subscription_id FROM deliveries ORDER BY subscription_id LIMIT 1)
			UNION ALL
			SELECT (SELECT d.subscription_id FROM deliveries d WHERE d.subscription_id > s.id ORDER BY d.subscription_id LIMIT 1)
			FROM subscriptions s WHERE s.id IS NOT NULL),
		old AS (
			SELECT o.subscription_id, o.id FROM subscriptions s CROSS JOIN LATERAL (
				SELECT d.subscription_id, d.id FROM deliveries d
				WHERE d.subscription_id = s.id AND d.id < uuid_floor($1) AND d.state >= 2 AND d.finished_at < $3 ORDER BY d.id
				LIMIT $2) o
			LIMIT $2)
		DELETE FROM deliveries d USING old WHERE d.subscription_id = old.subscription_id AND d.id = old.id`, at, limit,
		endedBy)
	return int(tag.RowsAffected()), err
}

// ReleaseOrCancelDeliveries releases parked deliveries of enabled subscriptions and cancels those of deleted
// ones, at most moveLimit of each.
func (s RetentionStore) ReleaseOrCancelDeliveries(ctx context.Context, releasePerSecond int) (moved int, err error) {
	enabled, err := queries.SubscriptionsToRelease(ctx, s.DB)
	if err != nil {
		return 0, err
	}
	deleted, err := queries.SubscriptionsToClear(ctx, s.DB)
	if err != nil {
		return 0, err
	}
	var failures []error
	for _, subscriptionID := range enabled {
		n, err := queries.ReleaseDeliveries(ctx, s.DB, float64(releasePerSecond), subscriptionID, moveLimit)
		moved, failures = moved+int(n), append(failures, err)
	}
	for _, subscriptionID := range deleted {
		n, err := queries.CancelDeliveries(ctx, s.DB, time.Now(), subscriptionID, moveLimit)
		moved, failures = moved+int(n), append(failures, err)
	}
	return moved, errors.Join(failures...)
}
