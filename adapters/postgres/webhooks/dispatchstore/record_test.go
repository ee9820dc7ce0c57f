package dispatchstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// A worker whose lease is over may record its attempt after another worker has claimed the delivery. A success counts
// all the same. A failure must not end the newer claim (delivery.md, point 6).
func TestRecord_UnderAFormerClaim_CountsASuccessAndNoFailure(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := dispatchOver(t, pool.Config().ConnString())
	former := claimed(t, store, s, 1)
	newer, err := s.Renew(t.Context(), former, time.Hour)
	require.NoError(t, err)
	require.Len(t, newer, 1)
	for _, step := range []struct {
		name     string
		claim    webhookports.Claim
		attempt  int
		verdict  webhook.State
		settles  bool
		state    webhook.State
		attempts int
	}{
		{"a failure under the former claim", former[0], 1, webhook.Waiting, false, webhook.Dispatched, 0},
		{"the last failure under the former claim", former[0], 11, webhook.Failed, false, webhook.Dispatched, 0},
		{"a failure under the newer claim", newer[0], 1, webhook.Waiting, true, webhook.Waiting, 1},
		{"the same failure once more", newer[0], 1, webhook.Waiting, false, webhook.Waiting, 1},
		{"a success under the former claim", former[0], 2, webhook.Succeeded, true, webhook.Succeeded, 2},
		{"a failure after the success", newer[0], 3, webhook.Failed, false, webhook.Succeeded, 2},
	} {
		settled, _, err := s.Record(t.Context(), []webhookports.Outcome{{
			Delivery: &webhookports.Delivery{Claim: step.claim},
			Attempt:  webhook.Attempt{Number: step.attempt, Result: webhook.ResultTimeout, StartedAt: time.Now()},
			Verdict:  webhook.Verdict{State: step.verdict, Wait: time.Hour},
		}}, nil, 1, time.Now())
		require.NoError(t, err, step.name)
		require.Equal(t, []bool{step.settles}, settled, step.name)
		var state webhook.State
		var attempts int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT state, attempts FROM deliveries`).Scan(&state, &attempts))
		require.Equal(t, []any{step.state, step.attempts}, []any{state, attempts}, step.name)
	}
	var logged int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM delivery_attempts`).Scan(&logged))
	require.Equal(t, 5, logged, "every failure is in the log")
}

// A claim that is given up leaves its delivery due at once, parked where the subscription is disabled, or cancelled
// where it is deleted (delivery.md, point 4).
func TestRelease_LeavesTheDeliveryAsItsSubscriptionWants(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]struct {
		state webhook.State
		due   bool
	}{
		"enabled = true": {webhook.Waiting, true},
		"enabled = false, disabled_reason = 'disabled_by_partner'": {webhook.Waiting, false},
		"deleted_at = now()": {webhook.Cancelled, false},
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			store, pool := storetest.New(t, postgres.Options{})
			s := dispatchOver(t, pool.Config().ConnString())
			claims := claimed(t, store, s, 1)
			_, err := pool.Exec(t.Context(), `UPDATE webhook_subscriptions SET `+change)
			require.NoError(t, err)
			require.NoError(t, s.Release(t.Context(), claims))
			var state webhook.State
			var due bool
			require.NoError(t,
				pool.QueryRow(t.Context(), `SELECT state, due_at IS NOT NULL FROM deliveries`).Scan(&state, &due))
			require.Equal(t, want.state, state)
			require.Equal(t, want.due, due)
		})
	}
}

// dispatched plans a delivery that is claimed at once.
func dispatched(e *ports.Event, subscriptionID id.ID) webhookports.Delivery {
	d := webhookports.NewDelivery(e, subscriptionID, e.Name, []byte("{}"))
	d.State = webhook.Dispatched
	return d
}

// claimed relays n events to a new subscription, and gives the claims of their deliveries.
func claimed(t *testing.T, store *postgres.Store, s *dispatchstore.Store, n int) []webhookports.Claim {
	t.Helper()
	from := storetest.Origin(t, store)
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: from.PartnerID, URL: "https://example.com",
		Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now()}
	storetest.Do(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Subscriptions.Insert(ctx, sub, "svc_whsec_k")
	})
	for range n {
		appended(t, store, from.PartnerID)
	}
	_, claims, err := s.Relay(t.Context(), n, time.Hour,
		func(events []ports.Event, _ []webhookports.Subscription) (planned []webhookports.Delivery) {
			for i := range events {
				planned = append(planned, dispatched(&events[i], sub.ID))
			}
			return planned
		}, nil)
	require.NoError(t, err)
	require.Len(t, claims, n)
	return claims
}
