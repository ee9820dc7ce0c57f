// Package dispatchstore has the SQL statements of the dispatcher (the process that sends webhooks): making
// deliveries of new events, claiming due ones, storing the results of their POSTs, and counting what waits.
package dispatchstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// Store holds the dispatcher's SQL statements, each about a set of rows and written by hand, because its plan
// matters.
type Store struct {
	pool    *pgxpool.Pool
	cipher  pg.Cipher
	timeout time.Duration

	relayed relayedMemory
	outbox  outboxWatermark
	// For each subscription, the due_at at which the next scan of its waiting deliveries starts.
	waiting watermarks[id.ID, time.Time]
	// Where the next scan for overdue deliveries starts: 0 means at all, 1 at those of the last expiredSpan.
	leased watermarks[struct{}, int]
}

// queryTimeout is the time limit of a query, for a response lost while the connection stays open; the server's
// own limit is shorter.
const queryTimeout = 12 * time.Second

// New makes the dispatcher's Store. No other code may use the pool, which must have postgres.IndexPlanSettings.
func New(pool *pgxpool.Pool, cipher pg.Cipher) *Store {
	return &Store{pool: pool, cipher: cipher, timeout: queryTimeout}
}

// WithQueryTimeout sets the time limit of each query. Call it before the first query.
func (s *Store) WithQueryTimeout(d time.Duration) *Store {
	s.timeout = d
	return s
}

// bounded returns a context with the time limit of a query or a short transaction.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

const subscriptionColumns = `s.id, s.partner_id, s.events, s.enabled, s.failures, s.failing_since, s.slow, s.quick, s.holds,
	s.held_until, s.ramp, s.trouble`

func collectSubscription(row pgx.CollectableRow) (webhookports.Subscription, error) {
	return scanSubscription(row)
}

// scanSubscription scans a row with subscriptionColumns, and further columns into extra.
func scanSubscription(row pgx.CollectableRow, extra ...any) (webhookports.Subscription, error) {
	var s webhookports.Subscription
	var since, openUntil *time.Time
	h := &s.Health
	columns := []any{&s.ID, &s.PartnerID, &s.Events, &s.Enabled, &h.Failures, &since, &h.Slow, &h.Quick, &h.FailedProbes,
		&openUntil, &h.Ramp, &h.Trouble}
	err := row.Scan(append(columns, extra...)...)
	h.FailingSince, h.OpenUntil = orZero(since), orZero(openUntil)
	return s, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
