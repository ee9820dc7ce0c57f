package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	webhooktables "partnerdeposits/adapters/postgres/webhooks"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/storetest"
)

func TestReports_PendingIsExactToTenThousand(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	hourAgo, dayAgo := time.Now().Add(-time.Hour).Truncate(time.Millisecond),
		time.Now().Add(-24*time.Hour).Truncate(time.Millisecond)
	subs := []webhook.Subscription{
		{ID: addSubscription(t, pool, 1, "slow = false")}, {ID: addSubscription(t, pool, 2, "slow = false")},
		{ID: addSubscription(t, pool, 3, "slow = false")}, {ID: addSubscription(t, pool, 4, "slow = false")},
	}
	addDeliveries(t, pool, subs[0].ID, 20, dayAgo, 2, "NULL") // ended
	addDeliveries(t, pool, subs[0].ID, 20, dayAgo, 3, "NULL")
	addDeliveries(t, pool, subs[1].ID, 9_999, hourAgo, 0, "now() + interval '1 hour'")
	addDeliveries(t, pool, subs[2].ID, 10_000, hourAgo, 0, "now()")
	addDeliveries(t, pool, subs[2].ID, 1, dayAgo, 0, "NULL") // parked
	addDeliveries(t, pool, subs[3].ID, 2, hourAgo, 0, "now()")
	addDeliveries(t, pool, subs[3].ID, 3, dayAgo, 1, "now() + interval '30 seconds'") // dispatched

	for range 2 { // the second after the changes were added up
		got, err := store.Subscriptions.HealthReports(t.Context(), subs)
		require.NoError(t, err)
		for i, want := range []webhook.EndpointReport{
			{}, {Pending: 9_999, OldestPendingAt: hourAgo}, {Pending: 10_000, PendingCapped: true, OldestPendingAt: dayAgo},
			{Pending: 5, OldestPendingAt: dayAgo},
		} {
			require.Equal(t, subs[i].ID, got[i].ID)
			h := got[i].Health
			require.Equal(t, []any{want.Pending, want.PendingCapped}, []any{h.Pending, h.PendingCapped}, i)
			require.True(t, want.OldestPendingAt.Equal(h.OldestPendingAt), "%d: %v", i, h.OldestPendingAt)
		}
		exec(t, pool, `SELECT add_up_waiting(ARRAY (SELECT id FROM webhook_subscriptions))`)
	}
	exec(t, pool, `DELETE FROM deliveries WHERE subscription_id = $1 AND state = 0`, subs[3].ID)
	got, err := store.Subscriptions.HealthReports(t.Context(), subs[3:])
	require.NoError(t, err)
	require.Equal(t, 3, got[0].Health.Pending)
	none, err := store.Subscriptions.HealthReports(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestReports_TellTheStateAndItsTimes(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	at := func(ago time.Duration) time.Time { return time.Now().Add(-ago).Truncate(time.Second) }
	created, failing, since := at(3*time.Hour), at(2*time.Hour), at(time.Hour)
	for n, test := range []struct {
		set  string
		want webhook.EndpointReport
	}{
		{"slow = true", webhook.EndpointReport{State: webhook.EndpointHealthy, Since: created}},
		{"failures = 3, failing_since = $2, last_failure_at = $3, last_error = 'timeout'",
			webhook.EndpointReport{State: webhook.EndpointFailing, Since: failing, LastFailureAt: since,
				LastError: webhook.ResultTimeout}},
		{"failures = 3, failing_since = $2, state_since = $3, held_until = $3",
			webhook.EndpointReport{State: webhook.EndpointHeld, Since: since}},
		{"ramp = 2, state_since = $3, last_success_at = $3, failing_since = $2",
			webhook.EndpointReport{State: webhook.EndpointHeld, Since: since, LastSuccessAt: since}},
		{"enabled = false, disabled_reason = 'failing_for_five_days', held_until = $2, state_since = $3",
			webhook.EndpointReport{State: webhook.EndpointDisabled, Since: since}},
	} {
		sub := addSubscription(t, pool, byte(n+1), "slow = false")
		exec(t, pool, `UPDATE webhook_subscriptions SET created_at = $4, `+test.set+
			` WHERE id = $1 AND $2::timestamptz < $3::timestamptz`, sub, failing, since, created)
		got, err := store.Subscriptions.HealthReports(t.Context(), []webhook.Subscription{{ID: sub, Enabled: true}})
		require.NoError(t, err)
		h := got[0].Health
		require.Equal(t, test.want.State != webhook.EndpointDisabled, got[0].Enabled)
		require.Equal(t, []any{test.want.State, test.want.LastError}, []any{h.State, h.LastError}, test.set)
		for _, times := range [][2]time.Time{{test.want.Since, h.Since}, {test.want.LastSuccessAt, h.LastSuccessAt},
			{test.want.LastFailureAt, h.LastFailureAt}} {
			require.True(t, times[0].Equal(times[1]), "%s: %v", test.set, times)
		}
	}
}

// The statement reads no row of a delivery that has ended, and of the others their indexes.
func TestReports_ReadTheIndexOfPendingDeliveries(t *testing.T) {
	t.Parallel()
	pool := storetest.NewPool(t, grown(t), postgres.PoolOptions{})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	var sub id.ID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT subscription_id FROM deliveries LIMIT 1`).Scan(&sub))
	reads := accesses(t, pool, webhooktables.SelectHealthReportsSQL)
	require.Equal(t, []string{"deliveries_leased/1", "deliveries_pending/1", "waiting_counts_of_subscription/1",
		"webhook_subscriptions_pkey/1"}, reads)
	got, err := store.Subscriptions.HealthReports(t.Context(), []webhook.Subscription{{ID: sub}})
	require.NoError(t, err)
	require.Equal(t, count(t, pool, `SELECT count(*) FROM deliveries WHERE state < 2 AND subscription_id = $1`, sub),
		got[0].Health.Pending)
}

// The number of waiting deliveries equals the rows of deliveries after any changes, also of transactions that run at
// once, are rolled back, or add up the same changes.
func TestWaitingCounts_EqualTheDeliveries_WhateverChanges(t *testing.T) {
	t.Parallel()
	_, pool := storetest.New(t, postgres.Options{})
	const subscriptions, workers, steps = 4, 6, 60
	subs := make([]id.ID, subscriptions)
	for n := range subs {
		subs[n] = addSubscription(t, pool, byte(n+1), "slow = false")
	}
	changes := []string{
		`INSERT INTO deliveries (subscription_id, id, event_id, event, state, due_at, body, event_at)
			SELECT s.id, gen_random_uuid(), gen_random_uuid(), 'deposit.cancelled', i % 2, now(), '{}', now()
			FROM webhook_subscriptions s, generate_series(1, 6) i`,
		`UPDATE deliveries SET state = 1, due_at = now() WHERE id IN (SELECT id FROM deliveries WHERE state = 0
			ORDER BY random() LIMIT 5 FOR UPDATE SKIP LOCKED)`,
		`UPDATE deliveries SET state = 0 WHERE id IN (SELECT id FROM deliveries WHERE state = 1 ORDER BY random() LIMIT 5
			FOR UPDATE SKIP LOCKED)`,
		`UPDATE deliveries SET state = 4, due_at = NULL, finished_at = now() WHERE id IN (SELECT id FROM deliveries
			WHERE state < 2 ORDER BY random() LIMIT 5 FOR UPDATE SKIP LOCKED)`,
		`UPDATE deliveries SET due_at = NULL WHERE id IN (SELECT id FROM deliveries WHERE state = 0 ORDER BY random() LIMIT 5
			FOR UPDATE SKIP LOCKED)`,
		`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries ORDER BY random() LIMIT 3 FOR UPDATE SKIP LOCKED)`,
		`INSERT INTO deliveries (subscription_id, id, event_id, event, state, body, event_at)
			SELECT s.id, s.new, gen_random_uuid(), 'deposit.cancelled', 0, '{}', now()
			FROM (SELECT id, gen_random_uuid() AS new FROM webhook_subscriptions OFFSET 0) s, generate_series(1, 3)
			ON CONFLICT DO NOTHING`,
		`SELECT add_up_waiting(ARRAY (SELECT id FROM webhook_subscriptions))`,
	}
	ended := make(chan error, workers)
	for worker := range workers {
		go func() {
			ended <- func() error {
				for step := range steps {
					tx, err := pool.Begin(t.Context())
					if err != nil {
						return err
					}
					for n := range 2 {
						if _, err := tx.Exec(t.Context(), changes[(worker*7+step*3+n*5)%len(changes)]); err != nil {
							return errors.Join(err, tx.Rollback(context.Background()))
						}
					}
					if step%4 == 3 {
						err = tx.Rollback(t.Context())
					} else {
						err = tx.Commit(t.Context())
					}
					if err != nil {
						return err
					}
					// Each snapshot holds the number of its deliveries, also while others change them.
					var differ int
					if err := pool.QueryRow(t.Context(), differing).Scan(&differ); err != nil || differ != 0 {
						return cmp.Or(err, fmt.Errorf("after step %d: %d numbers differ", step, differ))
					}
				}
				return nil
			}()
		}()
	}
	for range workers {
		require.NoError(t, <-ended)
	}
	require.Less(t, count(t, pool, `SELECT count(*) FROM waiting_counts`), 400, "changes are added up")
	require.Positive(t, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0`))
	exec(t, pool, `SELECT add_up_waiting(ARRAY (SELECT id FROM webhook_subscriptions))`)
	require.LessOrEqual(t, count(t, pool, `SELECT count(*) FROM waiting_counts`), subscriptions)
	require.Zero(t, count(t, pool, differing))
	exec(t, pool, `TRUNCATE deliveries`)
	require.Zero(t, count(t, pool, differing))
}

// differing counts the subscriptions whose number is wrong.
const differing = `
	SELECT count(*) FROM (SELECT subscription_id, count(*) AS n FROM deliveries WHERE state = 0 GROUP BY 1) AS d
	FULL JOIN (SELECT subscription_id, sum(n) AS n FROM waiting_counts GROUP BY 1) AS c USING (subscription_id)
	WHERE coalesce(d.n, 0) <> coalesce(c.n, 0)`
