package dispatchstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/ports"
)

// countedExactly is the largest count that is exact. A larger count is the estimate of the last vacuum.
const countedExactly = 10_000

// Backlog implements ports.BacklogReader.
type Backlog struct{ pool *pgxpool.Pool }

// NewBacklog counts over a pool opened with postgres.IndexPlans, because no count may read a whole table.
func NewBacklog(pool *pgxpool.Pool) *Backlog { return &Backlog{pool: pool} }

// Each count reads at most $1 entries of an index.
const (
	countOutbox = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'outbox'::regclass)
		FROM (SELECT FROM outbox ORDER BY event_id LIMIT $1) AS few`
	countWaiting = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_waiting'::regclass)
		FROM (SELECT FROM deliveries WHERE state = 0 AND due_at IS NOT NULL ORDER BY subscription_id, due_at LIMIT $1) AS few`
	countDispatched = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_leased'::regclass)
		FROM (SELECT FROM deliveries WHERE state = 1 ORDER BY due_at LIMIT $1) AS few`
	countParked = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_parked'::regclass)
		FROM (SELECT FROM deliveries WHERE state = 0 AND due_at IS NULL ORDER BY subscription_id, id LIMIT $1) AS few`

	countSetAside = `SELECT count(*), 0 FROM (SELECT FROM outbox_set_aside ORDER BY event_id LIMIT $1) AS few`

	oldestOnOutbox = `SELECT extract(epoch FROM clock_timestamp() - committed_at)::float8 FROM outbox ORDER BY event_id LIMIT 1`

	// The earliest due delivery of each subscription, found as in Store.Due, and the earliest end of a lease.
	oldestDue = `
		WITH RECURSIVE waiting(id) AS (
			(SELECT subscription_id FROM deliveries WHERE state = 0 AND due_at IS NOT NULL ORDER BY subscription_id LIMIT 1)
			UNION ALL
			SELECT (SELECT d.subscription_id FROM deliveries d WHERE d.state = 0 AND d.due_at IS NOT NULL AND d.subscription_id > w.id
				ORDER BY d.subscription_id LIMIT 1)
			FROM waiting w WHERE w.id IS NOT NULL),
		earliest AS (
			SELECT d.due_at FROM waiting w JOIN webhook_subscriptions s ON s.id = w.id
			CROSS JOIN LATERAL (SELECT due_at FROM deliveries WHERE subscription_id = s.id AND state = 0 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1) d
			WHERE s.enabled AND s.deleted_at IS NULL AND s.held_until IS NULL
			UNION ALL
			(SELECT due_at FROM deliveries WHERE state = 1 ORDER BY due_at LIMIT 1))
		SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(due_at)))::float8 FROM earliest`

	// Counts the full days after today that have partitions; -1 if today has none. The search ends after 60 days, further than
	// partitions are made.
	daysAhead = `
		SELECT coalesce(min(n), 61) - 1 FROM generate_series(0, 60) n, to_char((now() AT TIME ZONE 'UTC')::date + n, 'YYYYMMDD') AS day
		WHERE NOT coalesce((SELECT relispartition FROM pg_class WHERE oid = to_regclass('events_' || day)), false)
			OR NOT coalesce((SELECT relispartition FROM pg_class WHERE oid = to_regclass('delivery_attempts_' || day)), false)`
	countDefault = `SELECT (SELECT count(*) FROM (SELECT FROM events_rest LIMIT $1) AS few) + (SELECT count(*) FROM (SELECT FROM delivery_attempts_rest LIMIT $1) AS few), 0`

	countSubscriptions = `
		SELECT CASE WHEN NOT enabled THEN 'disabled' WHEN held_until IS NOT NULL OR ramp > 0 THEN 'held' WHEN slow THEN 'slow' ELSE 'healthy' END, count(*)
		FROM webhook_subscriptions WHERE deleted_at IS NULL GROUP BY 1`
)

// Backlog implements ports.BacklogReader.
func (b *Backlog) Backlog(ctx context.Context) (ports.Backlog, error) {
	out := ports.Backlog{Deliveries: map[ports.BacklogState]int{}, Subscriptions: map[ports.SubscriptionState]int{}}
	batch := &pgx.Batch{}
	count := func(sql string, set func(int)) {
		batch.Queue(sql, countedExactly+1).QueryRow(func(row pgx.Row) error {
			var exact, estimate int
			err := row.Scan(&exact, &estimate)
			if exact > countedExactly {
				exact = max(exact, estimate)
			}
			set(exact)
			return err
		})
	}
	age := func(sql string, set func(time.Duration)) {
		batch.Queue(sql).Query(func(rows pgx.Rows) error {
			seconds, err := pgx.CollectRows(rows, pgx.RowTo[*float64])
			if err == nil && len(seconds) == 1 && seconds[0] != nil {
				set(time.Duration(*seconds[0] * float64(time.Second)))
			}
			return err
		})
	}
	count(countOutbox, func(n int) { out.OutboxPending = n })
	count(countSetAside, func(n int) { out.OutboxSetAside = n })
	count(countWaiting, func(n int) { out.Deliveries[ports.BacklogWaiting] = n })
	count(countDispatched, func(n int) { out.Deliveries[ports.BacklogDispatched] = n })
	count(countParked, func(n int) { out.Deliveries[ports.BacklogParked] = n })
	age(oldestOnOutbox, func(d time.Duration) { out.OutboxOldestAge = d })
	age(oldestDue, func(d time.Duration) { out.OldestDueAge = d })
	count(countDefault, func(n int) { out.Partitions.DefaultRows = n })
	batch.Queue(daysAhead).QueryRow(func(row pgx.Row) error { return row.Scan(&out.Partitions.DaysAhead) })
	batch.Queue(countSubscriptions).Query(func(rows pgx.Rows) error {
		var state ports.SubscriptionState
		var n int
		_, err := pgx.ForEachRow(rows, []any{&state, &n}, func() error {
			out.Subscriptions[state] = n
			return nil
		})
		return err
	})
	return out, pg.Translate(b.pool.SendBatch(ctx, batch).Close())
}
