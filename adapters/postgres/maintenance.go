package postgres

import (
	"context"
	"time"
)

// EnsurePartitions implements ports.Maintenance.
func (s *Store) EnsurePartitions(ctx context.Context, days int) error {
	_, err := s.db.Exec(ctx, `SELECT ensure_partitions($1)`, days)
	return err
}

// DropPartitions implements ports.Maintenance.
func (s *Store) DropPartitions(ctx context.Context, days int) error {
	// In days: the function counts those, and a Go duration would arrive as hours.
	_, err := s.db.Exec(ctx, `SELECT drop_expired_partitions(make_interval(days => $1))`, days)
	return err
}

// DeleteFinishedDeliveries implements ports.Maintenance. Ids sort by time, so the oldest are at the start of the
// primary key.
func (s *Store) DeleteFinishedDeliveries(ctx context.Context, at time.Time, limit int) (int, error) {
	tag, err := s.db.Exec(ctx, `
		DELETE FROM deliveries WHERE id = ANY (ARRAY (
			SELECT id FROM deliveries WHERE id < uuid_floor($1) AND state >= 2 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))`, at, limit)
	return int(tag.RowsAffected()), err
}

// DeleteFinishedMails implements ports.Maintenance.
func (s *Store) DeleteFinishedMails(ctx context.Context, at time.Time, limit int) (int, error) {
	tag, err := s.db.Exec(ctx, `
		DELETE FROM mails WHERE id = ANY (ARRAY (
			SELECT id FROM mails WHERE id < uuid_floor($1) AND (sent_at IS NOT NULL OR failed_at IS NOT NULL) ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))`, at, limit)
	return int(tag.RowsAffected()), err
}
