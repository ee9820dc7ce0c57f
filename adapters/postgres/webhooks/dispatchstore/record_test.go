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
	newer, err := s.RenewClaims(t.Context(), former, time.Hour)
	require.NoError(t, err)
	require.Len(t, newer, 1)
	for _, step := range []struct {
		name     string
		claim    webhookports.Claim
		attempt  int
		verdict  webhook.DeliveryState
		settles  bool
		state    webhook.DeliveryState
		attempts int
	}{
		{"a failure under the former claim", former[0], 1, webhook.DeliveryStateWaiting, false,
			webhook.DeliveryStateDispatched, 0},
		{"the last failure under the former claim", former[0], 11, webhook.DeliveryStateFailed, false,
			webhook.DeliveryStateDispatched, 0},
		{"a failure under the newer claim", newer[0], 1, webhook.DeliveryStateWaiting, true, webhook.DeliveryStateWaiting, 1},
		{"the same failure once more", newer[0], 1, webhook.DeliveryStateWaiting, false, webhook.DeliveryStateWaiting, 1},
		{"a success under the former claim", former[0], 2, webhook.DeliveryStateSucceeded, true,
			webhook.DeliveryStateSucceeded, 2},
		{"a failure after the success", newer[0], 3, webhook.DeliveryStateFailed, false, webhook.DeliveryStateSucceeded, 2},
	} {
		settled, _, err := s.RecordOutcomes(t.Context(), []webhookports.AttemptOutcome{{
			Delivery: &webhookports.Delivery{Claim: step.claim},
			Attempt:  webhook.Attempt{Number: step.attempt, Result: webhook.ResultTimeout, StartedAt: time.Now()},
			Verdict:  webhook.DeliveryVerdict{State: step.verdict, Wait: time.Hour},
		}}, nil, 1, time.Now())
		require.NoError(t, err, step.name)
		require.Equal(t, []bool{step.settles}, settled, step.name)
		var state webhook.DeliveryState
		var attempts int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT state, attempts FROM deliveries`).Scan(&state, &attempts))
		require.Equal(t, []any{step.state, step.attempts}, []any{state, attempts}, step.name)
	}
	var logged int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM delivery_attempts`).Scan(&logged))
	require.Equal(t, 5, logged, "every failure is in the log")
}

// A delivery that was put off by our own doing is due again, and tells nothing of its endpoint, also beside a failure.
func TestRecord_WithoutAnAttempt_PutsTheDeliveryOff(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	s := dispatchOver(t, pool.Config().ConnString())
	claims := claimed(t, store, s, 2)
	sub := claims[0].SubscriptionID
	outcome := func(c webhookports.Claim, a webhook.Attempt) webhookports.AttemptOutcome {
		return webhookports.AttemptOutcome{Delivery: &webhookports.Delivery{Claim: c}, Attempt: a,
			Verdict: webhook.DeliveryVerdict{State: webhook.DeliveryStateWaiting, Wait: time.Minute}}
	}
	settled, health, err := s.RecordOutcomes(t.Context(), []webhookports.AttemptOutcome{
		outcome(claims[0], webhook.Attempt{}),
		outcome(claims[1], webhook.Attempt{Number: 1, Result: webhook.ResultNon2xx, StartedAt: time.Now()}),
	}, []id.ID{sub}, 1, time.Now())
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, settled)
	require.Equal(t, 1, health[sub].Failures)
	var attempts, logged int
	var lastError string
	require.NoError(t, pool.QueryRow(t.Context(), `
		SELECT sum(attempts), (SELECT count(*) FROM delivery_attempts), (SELECT last_error FROM webhook_subscriptions)
		FROM deliveries WHERE state = 0 AND due_at > now()`).Scan(&attempts, &logged, &lastError))
	require.Equal(t, []any{1, 1, "non_2xx"}, []any{attempts, logged, lastError})
	settled, _, err = s.RecordOutcomes(t.Context(), []webhookports.AttemptOutcome{outcome(claims[0], webhook.Attempt{})},
		nil, 1, time.Now())
	require.NoError(t, err)
	require.Equal(t, []bool{false}, settled, "the claim is over")
}

// A claim that is given up leaves its delivery due at once, parked where the subscription is disabled, or cancelled
// where it is deleted (delivery.md, point 4).
func TestRelease_LeavesTheDeliveryAsItsSubscriptionWants(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]struct {
		state webhook.DeliveryState
		due   bool
	}{
		"enabled = true": {webhook.DeliveryStateWaiting, true},
		"enabled = false, disabled_reason = 'disabled_by_partner'": {webhook.DeliveryStateWaiting, false},
		"deleted_at = now()": {webhook.DeliveryStateCancelled, false},
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			store, pool := storetest.New(t, postgres.Options{})
			s := dispatchOver(t, pool.Config().ConnString())
			claims := claimed(t, store, s, 1)
			_, err := pool.Exec(t.Context(), `UPDATE webhook_subscriptions SET `+change)
			require.NoError(t, err)
			require.NoError(t, s.ReleaseClaims(t.Context(), claims))
			var state webhook.DeliveryState
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
	d.State = webhook.DeliveryStateDispatched
	return d
}

// claimed relays n events to a new subscription, and gives the claims of their deliveries.
func claimed(t *testing.T, store *postgres.Store, s *dispatchstore.Store, n int) []webhookports.Claim {
	t.Helper()
	from := storetest.CreateDepositOrigin(t, store)
	sub := webhook.Subscription{ID: portstest.NewID(), PartnerID: from.PartnerID, URL: "https://example.com",
		Events: webhook.EventNames, Enabled: true, CreatedAt: time.Now()}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
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
		})
	require.NoError(t, err)
	require.Len(t, claims, n)
	return claims
}
