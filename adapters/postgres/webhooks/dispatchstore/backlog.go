package dispatchstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// countedExactly is the largest exact count of waiting rows. A larger count is the estimate of the last vacuum.
const countedExactly = 10_000

type BacklogReader struct{ pool *pgxpool.Pool }

// NewBacklogReader makes a BacklogReader. The pool must have postgres.IndexPlanSettings, because no count may
// read a whole table.
func NewBacklogReader(pool *pgxpool.Pool) *BacklogReader { return &BacklogReader{pool: pool} }

// SQL that counts rows that wait to be processed; each count reads at most $1 entries of an index.
const (
	countOutbox = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'outbox'::regclass)
		FROM (SELECT FROM outbox ORDER BY position, event_id LIMIT $1) AS few`
	countWaiting = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_waiting'::regclass)
		FROM (SELECT FROM deliveries WHERE state = 0 AND due_at IS NOT NULL ORDER BY subscription_id, due_at LIMIT $1) AS few`
	countDispatched = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_leased'::regclass)
		FROM (SELECT FROM deliveries WHERE state = 1 ORDER BY due_at LIMIT $1) AS few`
	countParked = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_parked'::regclass)
		FROM (SELECT FROM deliveries WHERE state = 0 AND due_at IS NULL ORDER BY subscription_id, id LIMIT $1) AS few`

	countSetAside = `SELECT count(*), 0 FROM (SELECT FROM outbox_set_aside ORDER BY event_id LIMIT $1) AS few`

	oldestOnOutbox = `SELECT extract(epoch FROM clock_timestamp() - committed_at)::float8 FROM outbox
		ORDER BY position, event_id LIMIT 1`

	// SQL of the ages of the delivery due longest and of the lease that ended first. Endpoints in a pause have an
	// age of their own.
	oldestDue = `
		WITH RECURSIVE waiting(id) AS (
			(SELECT subscription_id FROM deliveries WHERE state = 0 AND due_at IS NOT NULL ORDER BY subscription_id LIMIT 1)
			UNION ALL
			SELECT (SELECT d.subscription_id FROM deliveries d WHERE d.state = 0 AND d.due_at IS NOT NULL
			AND d.subscription_id > w.id
				ORDER BY d.subscription_id LIMIT 1)
			FROM waiting w WHERE w.id IS NOT NULL),
		earliest AS (
			SELECT d.due_at, s.held_until IS NOT NULL AS held FROM waiting w JOIN webhook_subscriptions s ON s.id = w.id
			CROSS JOIN LATERAL (SELECT due_at FROM deliveries WHERE subscription_id = s.id AND state = 0 AND due_at IS NOT NULL
			ORDER BY due_at LIMIT 1) d
			WHERE s.enabled AND s.deleted_at IS NULL
			UNION ALL
			(SELECT due_at, false FROM deliveries WHERE state = 1 ORDER BY due_at LIMIT 1))
		SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(due_at) FILTER (WHERE NOT held))), 0)::float8,
			coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(due_at) FILTER (WHERE held))), 0)::float8
			FROM earliest`

	// SQL of the number of days after today that have partitions; -1 if today has none.
	daysAhead = `
		SELECT coalesce(min(n), 61) - 1 FROM generate_series(0, 60) n, to_char((now() AT TIME ZONE 'UTC')::date + n,
		'YYYYMMDD') AS day
		WHERE NOT coalesce((SELECT relispartition FROM pg_class WHERE oid = to_regclass('events_' || day)), false)
			OR NOT coalesce((SELECT relispartition FROM pg_class WHERE oid = to_regclass('delivery_attempts_' || day)), false)`
	countDefault = `SELECT (SELECT count(*) FROM (SELECT FROM events_rest LIMIT $1) AS few) + (SELECT count(*) FROM (SELECT
		FROM delivery_attempts_rest LIMIT $1) AS few), 0`

	countMails = `SELECT count(*), 0 FROM (SELECT FROM mails WHERE sent_at IS NULL AND failed_at IS NULL ORDER BY due_at
		LIMIT $1) AS few`
	oldestMail = `SELECT greatest(0, extract(epoch FROM clock_timestamp() - due_at))::float8 FROM mails
		WHERE sent_at IS NULL AND failed_at IS NULL ORDER BY due_at LIMIT 1`

	// Unpaid collections can be counted exactly: they are few, and have an index of their own.
	countCollections = `SELECT state, count(*) FROM collections WHERE state <> 'paid' GROUP BY state`
	countPaid        = `SELECT count(*), (SELECT reltuples::bigint FROM pg_class WHERE oid = 'collections_paid'::regclass)
		FROM (SELECT FROM collections WHERE state = 'paid' ORDER BY payment_id LIMIT $1) AS few`
	oldestCollection = `SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(captured_at)))::float8
		FROM unnest($1::text[]) AS s(open)
		CROSS JOIN LATERAL (SELECT captured_at FROM collections WHERE state <> 'paid' AND state = s.open ORDER BY captured_at
		LIMIT 1) AS c`

	// SQL of the number of connections to the server.
	countConnections = `SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
		current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
		- coalesce(current_setting('reserved_connections', true), '0')::integer`
	// SQL of the number of dead rows of each table.
	countDead = `SELECT coalesce(p.relname, c.relname)::text, sum(s.n_dead_tup)::bigint
		FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
		LEFT JOIN pg_class p ON p.oid = i.inhparent
		WHERE coalesce(p.relname, c.relname) = ANY ($1) GROUP BY 1`

	countSubscriptions = `
		SELECT CASE WHEN NOT enabled THEN 'disabled' WHEN held_until IS NOT NULL OR ramp > 0 THEN 'held' WHEN slow THEN 'slow'
		ELSE 'healthy' END, count(*)
		FROM webhook_subscriptions WHERE deleted_at IS NULL GROUP BY 1`
)

// openCollections lists the states of collections that are neither paid nor failed.
var openCollections = func() (open []string) {
	for _, s := range deposit.CollectionStates {
		if !s.Final() {
			open = append(open, string(s))
		}
	}
	return open
}()

func (b *BacklogReader) Backlog(ctx context.Context) (webhookports.Backlog, error) {
	out := webhookports.Backlog{Deliveries: map[webhookports.PendingDeliveryState]int{},
		Subscriptions: map[webhookports.SubscriptionState]int{}}
	out.Server.DeadRows = map[string]int{}
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
	age := func(sql string, set func(time.Duration), args ...any) {
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
			seconds, err := pgx.CollectRows(rows, pgx.RowTo[*float64])
			if err == nil && len(seconds) == 1 && seconds[0] != nil {
				set(time.Duration(*seconds[0] * float64(time.Second)))
			}
			return err
		})
	}
	count(countOutbox, func(n int) { out.OutboxPending = n })
	count(countSetAside, func(n int) { out.OutboxSetAside = n })
	count(countWaiting, func(n int) { out.Deliveries[webhookports.PendingDeliveryWaiting] = n })
	count(countDispatched, func(n int) { out.Deliveries[webhookports.PendingDeliveryDispatched] = n })
	count(countParked, func(n int) { out.Deliveries[webhookports.PendingDeliveryParked] = n })
	age(oldestOnOutbox, func(d time.Duration) { out.OutboxOldestAge = d })
	batch.Queue(oldestDue).QueryRow(func(row pgx.Row) error {
		var due, held float64
		err := row.Scan(&due, &held)
		out.OldestDueAge, out.OldestHeldAge = time.Duration(due*float64(time.Second)),
			time.Duration(held*float64(time.Second))
		return err
	})
	batch.Queue(selectEndpoints).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, scanEndpoint)
		out.OutboundSince = webhook.OutboundBrokenSince(all, time.Now())
		return err
	})
	count(countDefault, func(n int) { out.Partitions.DefaultRows = n })
	count(countMails, func(n int) { out.Mails.Pending = n })
	age(oldestMail, func(d time.Duration) { out.Mails.OldestDueAge = d })
	out.Collections.States = map[deposit.CollectionState]int{}
	counts(batch, out.Collections.States, countCollections)
	count(countPaid, func(n int) { out.Collections.States[deposit.CollectionPaid] = n })
	age(oldestCollection, func(d time.Duration) { out.Collections.OldestAge = d }, openCollections)
	batch.Queue(countConnections).QueryRow(
		func(row pgx.Row) error { return row.Scan(&out.Server.Connections, &out.Server.MaxConnections) })
	counts(batch, out.Server.DeadRows, countDead, webhookports.FrequentlyUpdatedTables)
	batch.Queue(daysAhead).QueryRow(func(row pgx.Row) error { return row.Scan(&out.Partitions.DaysAhead) })
	counts(batch, out.Subscriptions, countSubscriptions)
	return out, pg.Translate(b.pool.SendBatch(ctx, batch).Close())
}

// counts queues a statement that returns pairs of name and count, which are stored in the map into when it is
// sent.
func counts[K ~string](batch *pgx.Batch, into map[K]int, sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var name K
		var n int
		_, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
			into[name] = n
			return nil
		})
		return err
	})
}

func (b *BacklogReader) Endpoints(ctx context.Context) ([]webhook.EndpointReachability, error) {
	return endpoints(ctx, b.pool)
}
