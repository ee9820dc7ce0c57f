package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/portstest"
)

func dispatchOver(t *testing.T, databaseURL string) *postgres.Dispatch {
	t.Helper()
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	return postgres.NewDispatch(poolWith(t, databaseURL, postgres.PoolOptions{Settings: postgres.DispatchSettings}), cipher)
}

// A NAT or a proxy that forgets a connection leaves it open: no answer comes, and no end of the connection either.
func TestDispatch_AnswersThatGetLost_AreWaitedForNoLongerThanPatience(t *testing.T) {
	t.Parallel()
	through, proxy := proxied(t, pgtest.URL(t))
	ctx, lease := t.Context(), time.Minute
	claims := []ports.Claim{{DeliveryID: portstest.NewID(), SubscriptionID: portstest.NewID(), Seq: 1}}
	outcomes := []ports.Outcome{{Claim: claims[0], Attempt: webhook.Attempt{Number: 1, Result: webhook.ResultSuccess, StartedAt: time.Now()}, Verdict: webhook.Verdict{State: webhook.Succeeded}}}
	plan := func([]ports.Event, []ports.Endpoint) []ports.NewDelivery { return nil }
	questions := map[string]func(*postgres.Dispatch) error{
		"Pending":     func(s *postgres.Dispatch) error { _, err := s.Pending(ctx); return err },
		"Relay":       func(s *postgres.Dispatch) error { _, _, err := s.Relay(ctx, 1, lease, plan); return err },
		"Due":         func(s *postgres.Dispatch) error { _, err := s.Due(ctx); return err },
		"Claim":       func(s *postgres.Dispatch) error { _, err := s.Claim(ctx, []ports.Room{{Room: 1}}, lease); return err },
		"ClaimUrgent": func(s *postgres.Dispatch) error { _, _, err := s.ClaimUrgent(ctx, 1, lease); return err },
		"UnderWay":    func(s *postgres.Dispatch) error { _, err := s.UnderWay(ctx); return err },
		"ExpireLeases": func(s *postgres.Dispatch) error {
			_, err := s.ExpireLeases(ctx, time.Second, lease, []id.ID{})
			return err
		},
		"Load":   func(s *postgres.Dispatch) error { _, err := s.Load(ctx, claims); return err },
		"Record": func(s *postgres.Dispatch) error { _, _, err := s.Record(ctx, outcomes, nil, 1); return err },
		"Record with health": func(s *postgres.Dispatch) error {
			_, _, err := s.Record(ctx, outcomes, []id.ID{claims[0].SubscriptionID}, 1)
			return err
		},
		"Renew":   func(s *postgres.Dispatch) error { _, err := s.Renew(ctx, claims, lease); return err },
		"Release": func(s *postgres.Dispatch) error { return s.Release(ctx, claims) },
		"Disable": func(s *postgres.Dispatch) error { return s.Disable(ctx, claims[0].SubscriptionID, portstest.NewID()) },
	}
	stores := map[string]*postgres.Dispatch{}
	for name, ask := range questions {
		stores[name] = dispatchOver(t, through)
		require.NoError(t, ask(stores[name]), "%s is answered while answers come", name)
		stores[name].WithPatience(100 * time.Millisecond)
	}
	_, err := proxy.Toxics.AddToxicJson(toxic(t, "timeout", "downstream", `{"timeout": 0}`))
	require.NoError(t, err)
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
