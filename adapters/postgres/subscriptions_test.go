package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestSubscriptions_Insert_IsReadBack(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	s := newSubscription(p.ID, at0)
	s.Events, s.Standard = []webhook.EventName{webhook.EventDepositActivated, webhook.EventDepositStatusChanged}, true
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
	})
	got, err := w.Subscriptions.Subscription(t.Context(), p.ID, s.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(s, got))
	w.do(func(ctx context.Context, r *postgres.Store) error {
		locked, err := r.Subscriptions.LockRow(ctx, p.ID, s.ID)
		require.Empty(t, cmp.Diff(s, locked))
		return err
	})
}

func TestSubscriptions_Insert_ManyAtOnce_StopAtTheLimit(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	ended := w.race(func(int) error {
		return w.try(func(ctx context.Context, r *postgres.Store) error {
			return r.Subscriptions.Insert(ctx, newSubscription(p.ID, at0), "svc_whsec_a")
		})
	})
	require.Equal(t, map[string]int{"<nil>": webhook.MaxSubscriptions,
		webhook.ErrSubscriptionLimitReached.Error(): racers - webhook.MaxSubscriptions}, ended)
	list, err := w.Subscriptions.Subscriptions(t.Context(), p.ID, ports.Page{Limit: 100})
	require.NoError(t, err)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		if err := r.Subscriptions.Delete(ctx, list.Items[0].ID, at0); err != nil {
			return err
		}
		return r.Subscriptions.Insert(ctx, newSubscription(p.ID, at0), "svc_whsec_a") // a deleted subscription does not count
	})
	w.subscribe(w.partner().ID) // the limit of a partner does not bound another partner
}

func TestSubscriptions_Update_StoresWhatMayChange(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	s.URL, s.Events, s.Enabled, s.DisabledReason = "https://pms.example/v2",
		[]webhook.EventName{webhook.EventDepositCaptured},
		false, webhook.DisabledByPartner
	s.Standard = true
	w.update(s)
	got, err := w.Subscriptions.Subscription(t.Context(), s.PartnerID, s.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(s, got))
}

func TestDeliveries_InsertTest_IsDueAtOnceWithItsBytes(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	s := w.subscribe(w.partner().ID)
	d := w.testDelivery(s, at0)
	got, err := w.Deliveries.Delivery(t.Context(), s.ID, d.ID)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), got.DueAt, time.Minute)
	sum := sha256.Sum256(d.Body)
	d.BodySHA256, d.DueAt = hex.EncodeToString(sum[:]), got.DueAt
	require.Empty(t, cmp.Diff(d, got))
}

func (w *pooledStore) update(s webhook.Subscription) {
	w.t.Helper()
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Update(ctx, s, webhook.UnparkedDeliveriesPerSecond)
	})
}

func subscribe(t testing.TB, store *postgres.Store) webhook.Subscription {
	t.Helper()
	s := webhook.Subscription{ID: portstest.NewID(), PartnerID: storetest.CreateDepositOrigin(t, store).PartnerID,
		URL: "https://pms.example", Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now()}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, s, "svc_whsec_a")
	})
	return s
}

func setEnabled(t testing.TB, store *postgres.Store, s webhook.Subscription, enabled bool) {
	t.Helper()
	s.Enabled, s.DisabledReason = enabled, ""
	if !enabled {
		s.DisabledReason = webhook.DisabledByPartner
	}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Update(ctx, s, webhook.UnparkedDeliveriesPerSecond)
	})
}

func TestSubscription_Enabled_EndsItsFailureHistoryAndSpreadsParkedDeliveries(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := subscribe(t, store)
	addDeliveries(t, pool, s.ID, 400, time.Now(), 0, "now()")
	addDeliveries(t, pool, s.ID, 1, time.Now(), 1, "now() + interval '1 minute'")
	exec(t, pool,
		`UPDATE webhook_subscriptions SET failures = 7, failing_since = now(), slow = true, quick = 1, holds = 2,
			held_until = now(), ramp = 3`)
	const sick = `SELECT count(*) FROM webhook_subscriptions WHERE failures = 7 AND failing_since IS NOT NULL AND slow
		AND quick = 1 AND holds = 2 AND held_until IS NOT NULL AND ramp = 3`
	setEnabled(t, store, s, true) // already enabled, as in a change of the URL
	require.Equal(t, 1, count(t, pool, sick))
	setEnabled(t, store, s, false)
	require.Equal(t, 1, count(t, pool, sick))
	require.Equal(t, 400, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NULL`))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 1 AND due_at IS NOT NULL`),
		"a dispatched delivery is not parked")
	setEnabled(t, store, s, true)
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM webhook_subscriptions
		WHERE failures = 0 AND failing_since IS NULL AND NOT slow AND quick = 0 AND holds = 0 AND held_until IS NULL
		AND ramp = 0`))
	var spread time.Duration
	require.NoError(t,
		pool.QueryRow(t.Context(), `SELECT max(due_at) - min(due_at) FROM deliveries WHERE state = 0`).Scan(&spread))
	require.Equal(t, 399*time.Second/200, spread)
}

func TestSubscription_Deleted_IsGone_AndCancelsEveryDeliveryThatIsNotOver(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s, other := subscribe(t, store), subscribe(t, store)
	for _, subscriptionID := range []id.ID{s.ID, other.ID} {
		addDeliveries(t, pool, subscriptionID, 1, time.Now(), 0, "now()")
		addDeliveries(t, pool, subscriptionID, 1, time.Now(), 0, "NULL")
		addDeliveries(t, pool, subscriptionID, 1, time.Now(), 1, "now()")
	}
	for range 2 { // the second call changes nothing
		storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
			return r.Subscriptions.Delete(ctx, s.ID, time.Now())
		})
	}
	_, err := store.Subscriptions.Subscription(t.Context(), s.PartnerID, s.ID)
	require.ErrorIs(t, err, webhook.ErrNotFound)
	_, err = store.Subscriptions.SubscriptionByID(t.Context(), s.ID)
	require.ErrorIs(t, err, webhook.ErrNotFound)
	list, err := store.Subscriptions.Subscriptions(t.Context(), s.PartnerID, ports.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list.Items)
	require.Equal(t, 3, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 4 AND finished_at IS NOT NULL
		AND due_at IS NULL AND subscription_id = $1`, s.ID))
	require.Equal(t, 3, count(t, pool, `SELECT count(*) FROM deliveries WHERE state < 2`))
}

func TestTidyDeliveries_GoesOnWithLongBacklogs(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	released, cancelled, parked := subscribe(t, store), subscribe(t, store), subscribe(t, store)
	addDeliveries(t, pool, parked.ID, 5, time.Now(), 0, "now()")
	setEnabled(t, store, parked, false)
	addDeliveries(t, pool, released.ID, 12_000, time.Now(), 0, "NULL")
	addDeliveries(t, pool, cancelled.ID, 12_000, time.Now(), 0, "now()")
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Delete(ctx, cancelled.ID, time.Now())
	})
	require.Equal(t, 2_000,
		count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0 AND subscription_id = $1`, cancelled.ID))
	for _, want := range []int{12_000, 2_000, 0} {
		moved, err := store.Retention.ReleaseOrCancelDeliveries(t.Context(), webhook.UnparkedDeliveriesPerSecond)
		require.NoError(t, err)
		require.Equal(t, want, moved)
	}
	require.Equal(t, 12_000, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 4`))
	require.Equal(t, 12_000, count(t, pool, `SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NOT NULL`))
	require.Equal(t, 5, count(t, pool, `SELECT count(*) FROM deliveries WHERE due_at IS NULL AND state = 0`))
}

func TestDeliveries_TellStatusAndAttempts(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := subscribe(t, store)
	ids := map[webhook.DeliveryStatus]id.ID{}
	for status, row := range map[webhook.DeliveryStatus]string{
		webhook.StatusPending: "0, 0, now(), NULL, NULL", webhook.StatusRetrying: "1, 2, now(), NULL, NULL",
		webhook.StatusSucceeded: "2, 3, NULL, now(), now()", webhook.StatusFailed: "3, 2, NULL, now(), NULL",
	} {
		ids[status] = portstest.NewID()
		exec(t, pool,
			`INSERT INTO deliveries (id, subscription_id, event_id, event, body, event_at, state, attempts, due_at, finished_at,
				taken_at)
			VALUES ($1, $2, gen_random_uuid(), 'deposit.activated', '{}', now(), `+row+`)`, ids[status], s.ID)
		exec(t, pool,
			`INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result, response_status, snippet,
				detail)
			SELECT id, n, now(), 12, CASE WHEN n = 1 THEN 'non_2xx' ELSE 'timeout' END, CASE
			WHEN n = 1 THEN 500 END, 'oops', 'why' FROM deliveries, generate_series(attempts - (state = 2)::int, 1, -1) n
			WHERE id = $1`,
			ids[status])
	}
	for status, deliveryID := range ids {
		list, err := store.Deliveries.Deliveries(t.Context(), s.ID, webhookports.DeliveryFilter{Status: status},
			ports.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
		d := list.Items[0]
		require.Equal(t, deliveryID, d.ID)
		require.Equal(t, status, webhook.DeliveryStatusOf(d.State, d.Attempts))
		require.Len(t, d.AttemptLog, d.Attempts)
		require.Equal(t, status == webhook.StatusPending, !d.DueAt.IsZero(), "the end of a lease is no next attempt")
		require.Equal(t, status == webhook.StatusSucceeded, !d.DeliveredAt.IsZero())
		one, err := store.Deliveries.Delivery(t.Context(), s.ID, deliveryID)
		require.NoError(t, err)
		require.Equal(t, d.AttemptLog, one.AttemptLog)
		if status == webhook.StatusSucceeded {
			require.True(t, one.AttemptLog[2].OK())
			require.Equal(t, 3, one.AttemptLog[2].Number)
		}
		if d.Attempts >= 2 {
			first, second := one.AttemptLog[0], one.AttemptLog[1]
			require.Equal(t, webhook.Attempt{Number: 1, StartedAt: first.StartedAt, Duration: 12 * time.Millisecond,
				Result:         webhook.ResultNon2xx,
				ResponseStatus: 500, Snippet: "oops", Detail: "why"}, first)
			require.Equal(t, 2, second.Number)
			require.Zero(t, second.ResponseStatus)
		}
	}
}
