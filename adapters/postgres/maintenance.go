package postgres

import (
	"context"
	"time"
)

// DeleteFinishedDeliveries implements ports.Maintenance. Ids sort by time, so the oldest deliveries of a
// subscription are the first of the subscription in the primary key.
func (s *Store) DeleteFinishedDeliveries(ctx context.Context, at time.Time, limit int) (int, error) {
	tag, err := s.db.Exec(ctx, `
		WITH RECURSIVE subscriptions(id) AS (
			(SELECT subscription_id FROM deliveries ORDER BY subscription_id LIMIT 1)
			UNION ALL
			SELECT (SELECT d.subscription_id FROM deliveries d WHERE d.subscription_id > s.id ORDER BY d.subscription_id LIMIT 1)
			FROM subscriptions s WHERE s.id IS NOT NULL),
		old AS (
			SELECT o.subscription_id, o.id FROM subscriptions s CROSS JOIN LATERAL (
				SELECT d.subscription_id, d.id FROM deliveries d
				WHERE d.subscription_id = s.id AND d.id < uuid_floor($1) AND d.state >= 2 ORDER BY d.id LIMIT $2) o
			LIMIT $2)
		DELETE FROM deliveries d USING old WHERE d.subscription_id = old.subscription_id AND d.id = old.id`, at, limit)
	return int(tag.RowsAffected()), err
}

// DeleteFinishedMails implements ports.Maintenance.
func (s *Store) DeleteFinishedMails(ctx context.Context, at time.Time, limit int) (int, error) {
	tag, err := s.db.Exec(ctx, `
		DELETE FROM mails WHERE id = ANY (ARRAY (
			SELECT id FROM mails WHERE id < uuid_floor($1) AND (sent_at IS NOT NULL OR failed_at IS NOT NULL) ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))`, at, limit)
	return int(tag.RowsAffected()), err
}
