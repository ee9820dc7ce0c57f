package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/lab/storetest"
	webhookports "partnerdeposits/ports/webhooks"
)

// addEventAt files an event whose id is of that time; addAttemptAt does the same with an attempt.
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
	backlog := dispatchstore.NewBacklog(pool)
	got, err := backlog.Backlog(t.Context())
	require.NoError(t, err)
	require.Equal(t, webhookports.Partitions{DaysAhead: -1, DefaultRows: 21}, got.Partitions)

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
	require.Equal(t, webhookports.Partitions{DaysAhead: 20, DefaultRows: 1}, got.Partitions)
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
