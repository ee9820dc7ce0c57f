package postgres_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/storetest"
	webhookports "partnerdeposits/ports/webhooks"
)

// addSubscription adds a subscription with the given columns of health.
func addSubscription(t testing.TB, pool *pgxpool.Pool, n byte, health string) id.ID {
	t.Helper()
	sub := id.ID{0xe0, n}
	exec(t, pool,
		`INSERT INTO partners (id, slug, name, created_at) VALUES ($1, 'acme', 'Acme', now()) ON CONFLICT DO NOTHING`,
		id.ID{0xaa})
	exec(t, pool,
		`INSERT INTO webhook_subscriptions (id, partner_id, url, events, secret, created_at)
			VALUES ($1, $2, 'https://r.example', '{deposit.activated}', '\x00', now())`,
		sub, id.ID{0xaa})
	exec(t, pool, `UPDATE webhook_subscriptions SET `+health+` WHERE id = $1`, sub)
	return sub
}

// addDeliveries adds n deliveries created at the given time.
func addDeliveries(t testing.TB, pool *pgxpool.Pool, sub id.ID, n int, made time.Time, state int, due string) {
	t.Helper()
	exec(t, pool, `
		INSERT INTO deliveries (id, subscription_id, event_id, event, state, due_at, body, event_at, finished_at, taken_at)
		SELECT (left(uuid_floor($2)::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, $1, gen_random_uuid(),
			'deposit.activated', $3::smallint, `+due+`, '{}', now(),
			CASE WHEN $3::smallint >= 2 THEN now() END, CASE WHEN $3::smallint = 2 THEN now() END
		FROM generate_series(1, $4)`, sub, made, state, n)
}

func TestBacklog_TellsWhatWaitsAndForHowLong(t *testing.T) {
	t.Parallel()
	_, pool := storetest.New(t, postgres.Options{})
	backlog := dispatchstore.NewBacklogReader(pool)
	empty, err := backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Zero(t, empty.OutboxPending)
	require.Zero(t, empty.OutboxOldestAge)
	require.Zero(t, empty.OldestDueAge)

	healthy := addSubscription(t, pool, 1, "slow = false")
	addSubscription(t, pool, 2, "slow = true")
	held := addSubscription(t, pool, 3, "held_until = now() + interval '1 minute', slow = true")
	disabled := addSubscription(t, pool, 4, "enabled = false, disabled_reason = 'disabled_by_partner'")
	exec(t, pool, `UPDATE webhook_subscriptions SET deleted_at = now() WHERE id = $1`,
		addSubscription(t, pool, 5, "slow = false"))
	now := time.Now()
	addDeliveries(t, pool, healthy, 3, now, 0, "now() - interval '40 seconds'")
	addDeliveries(t, pool, healthy, 2, now, 0, "now() + interval '1 hour'")
	addDeliveries(t, pool, held, 4, now, 0, "now() - interval '1 hour'")
	addDeliveries(t, pool, disabled, 5, now, 0, "NULL")
	addDeliveries(t, pool, healthy, 6, now, 1, "now() + interval '20 seconds'")
	addDeliveries(t, pool, healthy, 7, now, 2, "NULL")
	exec(t, pool, `INSERT INTO outbox (event_id, partner_id, name, data, created_at, committed_at)
		VALUES ($1, $3, 'deposit.expired', '{}', now(), now() - interval '90 seconds'), ($2, $3, 'deposit.expired', '{}',
		now(), now())`,
		id.ID{1}, id.ID{2}, id.ID{0xaa})
	exec(t, pool, `INSERT INTO outbox_set_aside (event_id, partner_id, name, data, created_at, committed_at, reason)
		VALUES ($1, $2, 'deposit.unheard_of', '{}', now(), now(), 'refused')`, id.ID{3}, id.ID{0xaa})
	exec(t, pool, `INSERT INTO mails (id, recipient, subject, body, created_at, due_at, sent_at)
		SELECT gen_random_uuid(), 'a@example.com', 's', 'b', now(), now() + make_interval(secs => n), CASE
		WHEN n = -70 THEN now() END
		FROM unnest(ARRAY[-70, -50, -20, 600]) n`)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(conn.Release)
	for _, sql := range []string{
		`INSERT INTO waiting_counts SELECT gen_random_uuid(), 1 FROM generate_series(1, 30)`,
		`DELETE FROM waiting_counts WHERE n = 1`, `SELECT pg_stat_force_next_flush()`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}

	got, err := backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, got.Mails.Pending)
	require.InDelta(t, 50, got.Mails.OldestDueAge.Seconds(), 5)
	require.GreaterOrEqual(t, got.Server.Connections, 1)
	require.Greater(t, got.Server.MaxConnections, got.Server.Connections)
	require.GreaterOrEqual(t, got.Server.DeadRows["waiting_counts"], 30)
	require.ElementsMatch(t, webhookports.FrequentlyUpdatedTables, slices.Collect(maps.Keys(got.Server.DeadRows)),
		"each is a table")
	require.Equal(t, 2, got.OutboxPending)
	require.InDelta(t, 90, got.OutboxOldestAge.Seconds(), 5)
	require.Equal(t, 1, got.OutboxSetAside)
	require.Equal(t, map[webhookports.PendingDeliveryState]int{webhookports.PendingDeliveryWaiting: 9,
		webhookports.PendingDeliveryDispatched: 6,
		webhookports.PendingDeliveryParked:     5}, got.Deliveries)
	require.InDelta(t, 40, got.OldestDueAge.Seconds(), 5, "a subscription whose circuit is open does not count")
	require.Equal(t, map[webhookports.SubscriptionState]int{
		webhookports.SubscriptionHealthy: 1, webhookports.SubscriptionSlow: 1, webhookports.SubscriptionHeld: 1,
		webhookports.SubscriptionDisabled: 1,
	}, got.Subscriptions)

	exec(t, pool, `UPDATE deliveries SET due_at = now() - interval '3 minutes' WHERE state = 1`)
	got, err = backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 180, got.OldestDueAge.Seconds(), 5, "a lease that ran out is due")
}

func TestBacklog_EstimatesWhatIsTooManyToCount(t *testing.T) {
	t.Parallel()
	_, pool := storetest.New(t, postgres.Options{})
	const many = 25_000
	addDeliveries(t, pool, addSubscription(t, pool, 1, "slow = false"), many, time.Now(), 0, "now()")
	backlog := dispatchstore.NewBacklogReader(pool)
	got, err := backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Greater(t, got.Deliveries[webhookports.PendingDeliveryWaiting], 10_000,
		"before vacuum looked, at least that many")
	exec(t, pool, `VACUUM ANALYZE deliveries`)
	got, err = backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.InDelta(t, many, got.Deliveries[webhookports.PendingDeliveryWaiting], many/20)
}

func TestMaintenance_KeepsPartitionsAheadAndDropsOldOnes(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	// The template of the database may have been made on the day before: its yesterday does not count.
	tables := func(pattern string) int {
		return count(t, pool, `SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ $1
			AND right(relname, 8) <> to_char(now() AT TIME ZONE 'UTC' - interval '2 days', 'YYYYMMDD')`, pattern)
	}
	require.NoError(t, store.Retention.EnsurePartitions(t.Context(), 20))
	require.Equal(t, 22, tables(`^events_[0-9]{8}$`), "yesterday, today, and 20 days")
	require.Equal(t, 22, tables(`^delivery_attempts_[0-9]{8}$`))

	long, recent := time.Now().UTC().AddDate(0, 0, -40), time.Now().UTC().AddDate(0, 0, -20)
	for _, day := range []time.Time{long, recent} {
		name := day.Format("20060102")
		exec(t, pool, `CREATE TABLE events_`+name+` PARTITION OF events FOR VALUES FROM ('`+floor(t, pool, day)+`') TO ('`+
			floor(t, pool, day.AddDate(0, 0, 1))+`')`)
	}
	// A feed whose events 1 and 2 are dropped begins with 3, and a feed without old events stays as it is.
	followed, other := storetest.CreateDepositOrigin(t, store).PartnerID, storetest.CreateDepositOrigin(t, store).PartnerID
	for i, of := range []struct {
		partner id.ID
		day     time.Time
	}{{followed, long}, {followed, long}, {followed, recent}, {other, recent}} {
		exec(t, pool,
			`INSERT INTO events (id, partner_id, name, data, created_at)
				VALUES (uuid_floor($1), $2, 'deposit.cancelled', '{}', now())`,
			of.day.Add(time.Duration(i)*time.Millisecond), of.partner)
	}
	require.NoError(t, store.Retention.DropPartitions(t.Context(), 30))
	oldest := func(partnerID id.ID) int {
		return count(t, pool, `SELECT oldest_sequence FROM event_feeds WHERE partner_id = $1`, partnerID)
	}
	require.Equal(t, []int{3, 1}, []int{oldest(followed), oldest(other)})
	require.Zero(t, tables(`^events_`+long.Format("20060102")))
	require.Equal(t, 1, tables(`^events_`+recent.Format("20060102")))
	require.Equal(t, 23, tables(`^events_[0-9]{8}$`))
}

func floor(t testing.TB, pool *pgxpool.Pool, at time.Time) (text string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT uuid_floor($1)::text`, at).Scan(&text))
	return text
}

func TestMaintenance_DeletesWhatIsFinishedAndOld(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	now := time.Now()
	old, edge := now.AddDate(0, 0, -40), now.AddDate(0, 0, -30)
	first, second := addSubscription(t, pool, 1, "slow = false"), addSubscription(t, pool, 2, "slow = false")
	addDeliveries(t, pool, first, 30, old, 2, "NULL")
	addDeliveries(t, pool, second, 20, old, 3, "NULL")
	addDeliveries(t, pool, first, 5, old, 0, "now()")
	addDeliveries(t, pool, first, 7, now, 2, "NULL")

	var rounds []int
	for {
		n, err := store.Retention.DeleteFinishedDeliveries(t.Context(), edge, time.Now().Add(time.Minute), 20)
		require.NoError(t, err)
		if n == 0 {
			break
		}
		rounds = append(rounds, n)
	}
	require.Equal(t, []int{20, 20, 10}, rounds, "in batches")
	require.Equal(t, 5, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0`),
		"what is not finished stays, however old")
	require.Equal(t, 7, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 2`), "what is young stays")

	exec(t, pool, `
		INSERT INTO mails (id, recipient, subject, body, created_at, due_at, sent_at)
		SELECT uuid_floor($1::timestamptz + n * interval '1 second'), 'a@example.com', 's', 'b', $1, $1, CASE
		WHEN n <= 3 THEN $1::timestamptz END
		FROM generate_series(1, 5) n`, old)
	n, err := store.Mails.DeleteFinishedMails(context.WithoutCancel(t.Context()), edge, 10)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, 2, count(t, pool, `SELECT count(*) FROM mails`))
}

// A subscription that stays disabled must not keep the bodies of all later events for ever.
func TestMaintenance_DeliveriesParkedForTooLong_EndAsFailedAndAreDeletedLater(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	now := time.Now()
	old, edge := now.AddDate(0, 0, -40), now.AddDate(0, 0, -30)
	first := addSubscription(t, pool, 1, "enabled = false, disabled_reason = 'disabled_by_partner'")
	second := addSubscription(t, pool, 2, "enabled = false, disabled_reason = 'failing_for_five_days'")
	addDeliveries(t, pool, first, 30, old, 0, "NULL")
	addDeliveries(t, pool, second, 5, old, 0, "NULL")
	addDeliveries(t, pool, first, 7, now, 0, "NULL")
	addDeliveries(t, pool, second, 3, old, 0, "now()")

	ended := map[id.ID]int{}
	for rounds := 0; ; rounds++ {
		require.Less(t, rounds, 5)
		some, err := store.Retention.EndParkedDeliveries(t.Context(), edge, 20)
		require.NoError(t, err)
		if len(some) == 0 {
			break
		}
		for _, d := range some {
			require.Equal(t, webhook.EventDepositActivated, d.Event)
			require.WithinDuration(t, now, d.EventAt, time.Minute)
			ended[d.SubscriptionID]++
		}
	}
	require.Equal(t, map[id.ID]int{first: 30, second: 5}, ended)
	require.Equal(t, 35, count(t, pool,
		`SELECT count(*) FROM deliveries WHERE state = 3 AND finished_at >= $1 AND due_at IS NULL AND failure_reason = $2`,
		now.Add(-time.Minute), webhook.FailureWebhookDisabled))
	require.Equal(t, 10, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0`),
		"young ones, and those that are due")

	n, err := store.Retention.DeleteFinishedDeliveries(t.Context(), edge, now.Add(-time.Hour), 100)
	require.NoError(t, err)
	require.Zero(t, n, "the partner can still read that they failed")
	n, err = store.Retention.DeleteFinishedDeliveries(t.Context(), edge, now.Add(time.Hour), 100)
	require.NoError(t, err)
	require.Equal(t, 35, n)
}

// Endpoints of two partners that began to fail at once get no connection.
func TestBacklog_TellsOfABreakOfOurOwnWayOut_AndOfTheOldestHeldDelivery(t *testing.T) {
	t.Parallel()
	_, pool := storetest.New(t, postgres.Options{})
	backlog := dispatchstore.NewBacklogReader(pool)
	got, err := backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Zero(t, got.OldestHeldAge)
	require.True(t, got.OutboundSince.IsZero())
	const lost = "failures = 30, failing_since = now() - interval '2 minutes', last_failure_at = now(), held_until = now() + interval '1 minute', "
	first := addSubscription(t, pool, 1, lost+"last_error = 'connect'")
	second := addSubscription(t, pool, 2, lost+"last_error = 'timeout', unconnected = true")
	exec(t, pool, `UPDATE webhook_subscriptions SET url = 'https://' || id || '.example/hook'`)
	addDeliveries(t, pool, first, 2, time.Now(), 0, "now() - interval '70 seconds'")
	addDeliveries(t, pool, second, 1, time.Now(), 0, "now() - interval '30 seconds'")
	got, err = backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 70, got.OldestHeldAge.Seconds(), 5)
	require.Zero(t, got.OldestDueAge)
	require.True(t, got.OutboundSince.IsZero(), "a single partner")

	exec(t, pool, `INSERT INTO partners (id, slug, name, created_at) VALUES ($1, 'other', 'Other', now())`, id.ID{0xbb})
	exec(t, pool, `UPDATE webhook_subscriptions SET partner_id = $1 WHERE id = $2`, id.ID{0xbb}, second)
	got, err = backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 120, time.Since(got.OutboundSince).Seconds(), 10)
	all, err := backlog.Endpoints(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Contains(t, all[0].Host, ".example")
	require.NotContains(t, all[0].Host, "/")
}

// addEventAt inserts an event whose creation time and id are of the given time. addAttemptAt inserts such an attempt.
func addEventAt(t testing.TB, pool *pgxpool.Pool, at time.Time) {
	t.Helper()
	exec(t, pool, `INSERT INTO events (id, partner_id, name, data, created_at)
		VALUES ((left(uuid_floor($1)::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, gen_random_uuid(),
		'deposit.expired', '{}', $1)`,
		at)
}

func addAttemptAt(t testing.TB, pool *pgxpool.Pool, at time.Time) {
	t.Helper()
	exec(t, pool,
		`INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result)
			VALUES (gen_random_uuid(), 1, $1, 5, 'timeout')`,
		at)
}

// withoutPartitions drops the partitions of a day, as if no dispatcher had run for longer than the days ahead.
func withoutPartitions(t testing.TB, pool *pgxpool.Pool, days ...time.Time) {
	t.Helper()
	for _, day := range days {
		exec(t, pool, `DROP TABLE IF EXISTS events_`+day.Format("20060102"))
		exec(t, pool, `DROP TABLE IF EXISTS delivery_attempts_`+day.Format("20060102"))
	}
}

func TestEnsurePartitions_RowsInTheDefaultPartition_MoveToTheirDays(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	today := time.Now().UTC().Truncate(24 * time.Hour)
	missed := []time.Time{today.AddDate(0, 0, -9), today.AddDate(0, 0, -1), today, today.AddDate(0, 0, 1)}
	withoutPartitions(t, pool, missed...)
	for i, day := range missed {
		for n := range i + 1 {
			addEventAt(t, pool, day.Add(time.Duration(n)*time.Hour))
			addAttemptAt(t, pool, day.Add(24*time.Hour-time.Microsecond))
		}
	}
	addEventAt(t, pool, today.AddDate(0, 0, 90)) // of a wrong clock: the day's partition is made when the day comes near
	backlog := dispatchstore.NewBacklogReader(pool)
	got, err := backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Equal(t, webhookports.PartitionStatus{DaysAhead: -1, DefaultRows: 21}, got.Partitions)

	require.NoError(t, store.Retention.EnsurePartitions(t.Context(), 20))
	for i, day := range missed {
		for _, table := range []string{"events_", "delivery_attempts_"} {
			require.Equal(t, i+1, count(t, pool, `SELECT count(*) FROM `+table+day.Format("20060102")),
				table+day.Format("20060102"))
		}
	}
	require.Equal(t, 11, count(t, pool, `SELECT count(*) FROM events`), "no row is lost")
	require.Equal(t, 10, count(t, pool, `SELECT count(*) FROM delivery_attempts`))
	got, err = backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Equal(t, webhookports.PartitionStatus{DaysAhead: 20, DefaultRows: 1}, got.Partitions)
	require.Equal(t, 0, count(t, pool, `SELECT count(*) FROM pg_index WHERE NOT indisvalid`))
	addEventAt(t, pool, time.Now())
	require.Equal(t, 4, count(t, pool, `SELECT count(*) FROM events_`+today.Format("20060102")),
		"new rows find their partition")
}

func TestEnsurePartitions_ADayThatFails_StopsNoOther(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	today := time.Now().UTC().Truncate(24 * time.Hour)
	withoutPartitions(t, pool, today)
	addEventAt(t, pool, time.Now())
	exec(t, pool, `CREATE TABLE events_`+today.Format("20060102")+` (in_the_way text)`)
	err := store.Retention.EnsurePartitions(t.Context(), 20)
	require.ErrorContains(t, err, "events_"+today.Format("20060102"), "the error names the day")
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM events_rest`))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM pg_class WHERE relispartition AND relname = $1`,
		"delivery_attempts_"+today.Format("20060102")))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM pg_class WHERE relispartition AND relname = $1`,
		"events_"+today.AddDate(0, 0, 20).Format("20060102")))
	exec(t, pool, `DROP TABLE events_`+today.Format("20060102"))
	require.NoError(t, store.Retention.EnsurePartitions(t.Context(), 20), "the next round makes up for the day")
	require.Zero(t, count(t, pool, `SELECT count(*) FROM events_rest`))
}

func TestEnsurePartitions_ByManyAtOnce_Succeeds(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	today := time.Now().UTC().Truncate(24 * time.Hour)
	withoutPartitions(t, pool, today, today.AddDate(0, 0, 1))
	addEventAt(t, pool, time.Now())
	done := make(chan error, 4)
	for range cap(done) {
		go func() { done <- store.Retention.EnsurePartitions(t.Context(), 20) }()
	}
	for range cap(done) {
		require.NoError(t, <-done)
	}
	require.NoError(t, store.Retention.EnsurePartitions(t.Context(), 20))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM events_`+today.Format("20060102")))
	require.Zero(t, count(t, pool, `SELECT count(*) FROM events_rest`))
}
