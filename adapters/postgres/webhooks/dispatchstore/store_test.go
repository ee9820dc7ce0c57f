package dispatchstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

func dispatchOver(t *testing.T, databaseURL string) *dispatchstore.Store {
	t.Helper()
	return dispatchWith(t, databaseURL, postgres.PoolOptions{})
}

func dispatchWith(t *testing.T, databaseURL string, o postgres.PoolOptions) *dispatchstore.Store {
	t.Helper()
	o.Settings = postgres.IndexPlanSettings
	return dispatchstore.New(storetest.NewPool(t, databaseURL, o), secretstest.NewCipher(t))
}

// subscribed is a dispatcher's store over a database with a subscription, and with events in the outbox of its partner.
type subscribed struct {
	*dispatchstore.Store
	pool *pgxpool.Pool
	sub  webhook.Subscription
}

func newSubscribed(t *testing.T, events int, o postgres.PoolOptions) subscribed {
	t.Helper()
	store, pool := storetest.New(t, postgres.Options{})
	partnerID := storetest.CreateDepositOrigin(t, store).PartnerID
	sub := subscribe(t, store, partnerID)
	for range events {
		appended(t, store, partnerID)
	}
	return subscribed{dispatchWith(t, pool.Config().ConnString(), o), pool, sub}
}

func subscribe(t *testing.T, store *postgres.Store, partnerID id.ID) webhook.Subscription {
	t.Helper()
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: partnerID, URL: "https://example.com/a?b",
		Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now(), Standard: true}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, sub, "svc_whsec_k")
	})
	return sub
}

// plan plans a delivery of each event to the subscription, which is claimed at once.
func (s subscribed) plan(events []ports.Event, _ []webhookports.Subscription) (planned []webhookports.Delivery) {
	for i := range events {
		d := webhookports.NewDelivery(&events[i], s.sub.ID, events[i].Name, []byte("{}"))
		d.State = webhook.DeliveryStateDispatched
		planned = append(planned, d)
	}
	return planned
}

// When a NAT or a proxy forgets a connection, neither a response nor the end of the connection arrives.
func TestDispatch_AnswersThatGetLost_AreWaitedForNoLongerThanPatience(t *testing.T) {
	t.Parallel()
	through, link := storetest.ProxiedURL(t, pgtest.NewDatabaseURL(t))
	ctx, lease := t.Context(), time.Minute
	claims := []webhookports.Claim{{DeliveryID: portstest.NewID(), SubscriptionID: portstest.NewID(), Seq: 1}}
	outcomes := []webhookports.AttemptOutcome{{Delivery: &webhookports.Delivery{Claim: claims[0]},
		Attempt: webhook.Attempt{
			Number: 1, Result: webhook.ResultSuccess, StartedAt: time.Now()},
		Verdict: webhook.DeliveryVerdict{State: webhook.DeliveryStateSucceeded}}}
	questions := map[string]func(*dispatchstore.Store) error{
		"Pending": func(s *dispatchstore.Store) error { _, _, err := s.OutboxPending(ctx); return err },
		"Relay":   func(s *dispatchstore.Store) error { _, _, err := s.Relay(ctx, 1, lease, nothing); return err },
		"Due":     func(s *dispatchstore.Store) error { _, err := s.FindDue(ctx, time.Second); return err },
		"Claim": func(s *dispatchstore.Store) error {
			_, err := s.ClaimDue(ctx, []webhookports.ClaimQuota{{Room: 1}}, lease)
			return err
		},
		"ClaimUrgent":  func(s *dispatchstore.Store) error { _, _, err := s.ClaimUrgent(ctx, 1, lease); return err },
		"CountClaimed": func(s *dispatchstore.Store) error { _, err := s.CountClaimed(ctx); return err },
		"ExpireLeases": func(s *dispatchstore.Store) error {
			_, err := s.ExpireLeases(ctx, time.Second, lease, time.Second, []id.ID{})
			return err
		},
		"Load": func(s *dispatchstore.Store) error { _, err := s.LoadClaimed(ctx, claims); return err },
		"Record": func(s *dispatchstore.Store) error {
			_, _, err := s.RecordOutcomes(ctx, outcomes, nil, 1, time.Now())
			return err
		},
		"Record with health": func(s *dispatchstore.Store) error {
			_, _, err := s.RecordOutcomes(ctx, outcomes, []id.ID{claims[0].SubscriptionID}, 1, time.Now())
			return err
		},
		"Renew":   func(s *dispatchstore.Store) error { _, err := s.RenewClaims(ctx, claims, lease); return err },
		"Release": func(s *dispatchstore.Store) error { return s.ReleaseClaims(ctx, claims) },
		"Disable": func(s *dispatchstore.Store) error { return s.DisableSubscription(ctx, claims[0].SubscriptionID) },
	}
	stores := map[string]*dispatchstore.Store{}
	for name, ask := range questions {
		stores[name] = dispatchOver(t, through)
		require.NoError(t, ask(stores[name]), "%s is answered while answers come", name)
		stores[name].WithQueryTimeout(100 * time.Millisecond)
	}
	link.StartFault(pgproxy.Fault{Lost: true})
	for name, ask := range questions {
		told := make(chan error, 1)
		go func() { told <- ask(stores[name]) }()
		select {
		case err := <-told:
			require.ErrorIs(t, err, fault.ErrUnavailable, name)
		case <-time.After(15 * time.Second):
			require.Failf(t, "it waits for ever", "%s", name)
		}
	}
}

// A failing endpoint changes its health a hundred times a second. Relays do not wait for that; they wait for a
// disabling.
func TestDispatch_RelayAndHealth_DoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := newSubscribed(t, 1, postgres.PoolOptions{LockTimeout: 200 * time.Millisecond})
	pool, sub := s.pool, s.sub
	held := func(mode string, meanwhile func()) {
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
		tag, err := tx.Exec(t.Context(), `SELECT FROM webhook_subscriptions WHERE id = $1 FOR `+mode, sub.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
		meanwhile()
	}
	var claims []webhookports.Claim
	held("NO KEY UPDATE", func() {
		var err error
		_, claims, err = s.Relay(t.Context(), 10, time.Hour, s.plan)
		require.NoError(t, err)
		require.Len(t, claims, 1)
	})
	held("KEY SHARE", func() {
		failed := webhookports.AttemptOutcome{
			Delivery: &webhookports.Delivery{Claim: claims[0]},
			Verdict:  webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: time.Hour},
			Attempt:  webhook.Attempt{Number: 1, Result: webhook.ResultTimeout, StartedAt: time.Now()},
		}
		settled, health, err := s.RecordOutcomes(t.Context(), []webhookports.AttemptOutcome{failed}, []id.ID{sub.ID}, 64,
			time.Now())
		require.NoError(t, err)
		require.Equal(t, []bool{true}, settled)
		require.Equal(t, 1, health[sub.ID].Failures)
	})
	_, err := pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failing_since = now() - interval '6 days' WHERE id = $1`, sub.ID)
	require.NoError(t, err)
	held("KEY SHARE", func() {
		require.ErrorIs(t, s.DisableSubscription(t.Context(), sub.ID), fault.ErrUnavailable,
			"a relay has read that it is enabled")
	})
}

func TestDue_TellsDueSubscriptions_UrgentDeliveries_AndTheNextOne(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	s := dispatchOver(t, pool.Config().ConnString())
	subs := map[string]id.ID{}
	for _, name := range []string{"now", "soon", "later", "parked", "deleted"} {
		subs[name] = subscribe(t, store, from.PartnerID).ID
	}
	_, err := pool.Exec(t.Context(), `UPDATE webhook_subscriptions SET deleted_at = now() WHERE id = $1`, subs["deleted"])
	require.NoError(t, err)
	add := func(sub id.ID, state int, test bool, dueIn *time.Duration) {
		_, err := pool.Exec(t.Context(),
			`INSERT INTO deliveries (id, subscription_id, event_id, event, state, test, body, event_at, due_at)
			VALUES ($1, $2, $3, 'deposit.cancelled', $4, $5, '{}', now(), now() + $6::interval)`, portstest.NewID(), sub,
			portstest.NewID(), state, test, dueIn)
		require.NoError(t, err)
	}
	in := func(d time.Duration) *time.Duration { return &d }
	look := func(horizon time.Duration) webhookports.DueScanResult {
		due, err := s.FindDue(t.Context(), horizon)
		require.NoError(t, err)
		return due
	}
	require.Equal(t, webhookports.DueScanResult{Next: time.Second}, look(time.Second))

	add(subs["later"], 0, false, in(time.Hour))
	add(subs["parked"], 0, false, nil)
	add(subs["deleted"], 0, false, in(-time.Second))
	require.Equal(t, webhookports.DueScanResult{Next: time.Second}, look(time.Second))

	add(subs["soon"], 0, false, in(10*time.Minute))
	due := look(20 * time.Minute)
	require.Empty(t, due.Subscriptions)
	require.Greater(t, due.Next, 5*time.Minute)
	require.LessOrEqual(t, due.Next, 10*time.Minute)

	add(subs["now"], 0, false, in(-time.Second))
	add(subs["now"], 0, false, in(time.Minute))
	due = look(time.Second)
	require.Len(t, due.Subscriptions, 1)
	require.Equal(t, subs["now"], due.Subscriptions[0].ID)
	require.False(t, due.Urgent)

	urgent := func(want int, wantRecovered int) {
		require.True(t, look(time.Second).Urgent)
		claims, recovered, err := s.ClaimUrgent(t.Context(), 10, time.Hour)
		require.NoError(t, err)
		require.Len(t, claims, want)
		require.Equal(t, wantRecovered, recovered)
		require.False(t, look(time.Second).Urgent)
	}
	add(subs["now"], 0, true, in(0))
	urgent(1, 0)
	add(subs["now"], 1, false, in(-time.Second))
	urgent(1, 1)
	// Only a full scan finds a lease that ended long ago, and the claim after it must be as thorough.
	add(subs["now"], 1, false, in(-time.Hour))
	require.Eventually(t, func() bool { return look(time.Second).Urgent }, 20*time.Second, 50*time.Millisecond)
	claims, recovered, err := s.ClaimUrgent(t.Context(), 10, time.Hour)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Equal(t, 1, recovered)
}

// appended puts an event into the outbox.
func appended(t *testing.T, store *postgres.Store, partnerID id.ID) id.ID {
	t.Helper()
	e := storetest.NewDepositCancelledEvent(partnerID, portstest.NewID())
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Outbox.Append(ctx, e)
	})
	return e.ID
}

// taking notes the events that a relay takes, and plans nothing.
func taking(got *[]id.ID) func([]ports.Event, []webhookports.Subscription) []webhookports.Delivery {
	return func(events []ports.Event, _ []webhookports.Subscription) []webhookports.Delivery {
		for _, e := range events {
			*got = append(*got, e.ID)
		}
		return nil
	}
}

// Events from before the relay ran have waited longest. Behind a stream of new events they would wait for a quiet
// moment.
func TestRelay_TakesTheOldestFirst(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	s := dispatchOver(t, pool.Config().ConnString())
	want := []id.ID{appended(t, store, from.PartnerID), appended(t, store, from.PartnerID),
		appended(t, store, from.PartnerID)}
	// from before the column
	_, err := pool.Exec(t.Context(), `UPDATE outbox SET position = 0 WHERE event_id = $1`, want[0])
	require.NoError(t, err)
	var got []id.ID
	for range 4 {
		_, _, err := s.Relay(t.Context(), 1, time.Hour, taking(&got))
		require.NoError(t, err)
	}
	require.Equal(t, want, got)
}

// The events of a relay that did not commit are back in the outbox, and the next relay finds them.
func TestRelay_ThatFails_IsFollowedByOneThatFindsItsEvents(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	from := storetest.CreateDepositOrigin(t, store)
	s := dispatchOver(t, pool.Config().ConnString())
	old := appended(t, store, from.PartnerID)
	for range 5 { // each of these looks could raise the low watermark
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := s.Relay(ctx, 10, time.Hour, func([]ports.Event, []webhookports.Subscription) []webhookports.Delivery {
			cancel()
			return nil
		})
		require.ErrorIs(t, err, fault.ErrUnavailable)
	}
	var got []id.ID
	_, _, err := s.Relay(t.Context(), 10, time.Hour, taking(&got))
	require.NoError(t, err)
	require.Equal(t, []id.ID{old}, got)
}

// An expired claim is stale at once, and no dispatcher claims the delivery before the grace is over.
func TestExpireLeases_MakesClaimsStaleAtOnceAndDueAfterTheGrace(t *testing.T) {
	t.Parallel()
	s := newSubscribed(t, 3, postgres.PoolOptions{})
	_, claims, err := s.Relay(t.Context(), 10, time.Hour, s.plan)
	require.NoError(t, err)
	require.Len(t, claims, 3)
	set := func(c webhookports.Claim, leaseLeft string) {
		_, err := s.pool.Exec(t.Context(), `UPDATE deliveries SET due_at = now() + $2::interval WHERE id = $1`,
			c.DeliveryID, leaseLeft)
		require.NoError(t, err)
	}
	set(claims[0], "30 minutes") // given long ago
	set(claims[1], "5 minutes")  // given long ago, and nearly over
	set(claims[2], "30 minutes") // in flight in this process
	taken, err := s.ExpireLeases(t.Context(), time.Second, time.Hour, 10*time.Minute, []id.ID{claims[2].DeliveryID})
	require.NoError(t, err)
	require.Equal(t, 2, taken)
	loaded, err := s.LoadClaimed(t.Context(), claims)
	require.NoError(t, err)
	for i, want := range []struct {
		live bool
		left time.Duration
	}{{false, 10 * time.Minute}, {false, 5 * time.Minute}, {true, 30 * time.Minute}} {
		require.Equal(t, want.live, loaded[i].Current, i)
		require.InDelta(t, want.left.Seconds(), loaded[i].LeaseLeft.Seconds(), 60, i)
	}
}

// A row that waits for the default partition while the partition of its day is made is refused by the default
// partition. The row itself is sound, and is written to the new partition.
func TestDispatch_PartitionMadeMeanwhile_RefusesNoRow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		table, from, to string
		do              func(context.Context, *dispatchstore.Store) error
	}{
		"relay": {"events", "uuid_floor(date_trunc('day', now(), 'UTC'))",
			"uuid_floor(date_trunc('day', now(), 'UTC') + interval '1 day')",
			func(ctx context.Context, s *dispatchstore.Store) error {
				relayed, _, err := s.Relay(ctx, 1, time.Hour, nothing)
				if err == nil && relayed != 1 {
					return errors.New("nothing was relayed")
				}
				return err
			}},
		"record": {"delivery_attempts", "date_trunc('day', now(), 'UTC')",
			"date_trunc('day', now(), 'UTC') + interval '1 day'",
			func(ctx context.Context, s *dispatchstore.Store) error {
				_, _, err := s.RecordOutcomes(ctx, []webhookports.AttemptOutcome{{
					Delivery: &webhookports.Delivery{
						Claim: webhookports.Claim{DeliveryID: portstest.NewID(), SubscriptionID: portstest.NewID(), Seq: 1}},
					Attempt: webhook.Attempt{Number: 1, Result: webhook.ResultTimeout, StartedAt: time.Now()},
					Verdict: webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting},
				}}, nil, 1, time.Now())
				return err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, pool := storetest.New(t, postgres.Options{})
			appended(t, store, storetest.CreateDepositOrigin(t, store).PartnerID)
			s := dispatchWith(t, pool.Config().ConnString(), postgres.PoolOptions{LockTimeout: time.Minute})
			today := test.table + "_" + time.Now().UTC().Format("20060102")
			execute := func(sql string) {
				_, err := pool.Exec(t.Context(), sql)
				require.NoError(t, err)
			}
			execute(`DROP TABLE ` + today)
			execute(`CREATE TABLE ` + today + ` (LIKE ` + test.table + ` INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`)
			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), `LOCK TABLE `+test.table+`_rest IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
			done := make(chan error, 1)
			go func() { done <- test.do(t.Context(), s) }()
			require.Eventually(t, func() bool {
				var waiting bool
				err := pool.QueryRow(t.Context(),
					`SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass)`,
					test.table+"_rest").Scan(&waiting)
				return err == nil && waiting
			}, 30*time.Second, 5*time.Millisecond)
			_, err = tx.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER TABLE `+test.table+` ATTACH PARTITION `+today+
				` FOR VALUES FROM (%L) TO (%L)', `+test.from+`, `+test.to+`); END $$`)
			require.NoError(t, err)
			require.NoError(t, tx.Commit(t.Context()))
			require.NoError(t, <-done)
			var rows int
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM `+today).Scan(&rows))
			require.Equal(t, 1, rows)
		})
	}
}
