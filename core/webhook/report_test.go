package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
)

func TestState_FollowsTheAttempts(t *testing.T) {
	const limit = 4
	now := time.Unix(1_790_000_000, 0)
	fail := webhook.Attempt{Result: webhook.ResultTimeout}
	ok := webhook.Attempt{Result: webhook.ResultSuccess}
	var h webhook.Health
	require.Equal(t, webhook.EndpointHealthy, h.State(true))
	h = h.AfterAttempt(fail, limit, now)
	require.Equal(t, webhook.EndpointFailing, h.State(true), "one failure")
	require.Equal(t, webhook.EndpointHealthy, h.AfterAttempt(ok, limit, now).State(true), "one success")
	for range 30 {
		h = h.AfterAttempt(fail, limit, now)
	}
	require.Equal(t, webhook.EndpointFailing, h.State(true), "many failures of a moment")
	now = now.Add(5 * time.Second)
	h = h.AfterAttempt(fail, limit, now)
	require.Equal(t, webhook.EndpointHeld, h.State(true), "open")
	require.Equal(t, webhook.EndpointDisabled, h.State(false))
	h = h.AfterAttempt(ok, limit, h.OpenUntil)
	require.Equal(t, webhook.EndpointHeld, h.State(true), "half-open")
	require.Equal(t, webhook.EndpointHeld, h.AfterAttempt(fail, limit, now).State(true), "half-open, with a failure")
	h = h.AfterAttempt(ok, limit, now).AfterAttempt(ok, limit, now)
	require.Equal(t, webhook.EndpointHealthy, h.State(true), "closed")
	require.Equal(t, webhook.EndpointHealthy, webhook.Health{Slow: true}.State(true), "slow, but taking deliveries")
}

func TestReport_StatesTenThousandPendingDeliveriesExactly(t *testing.T) {
	oldest := time.Unix(1_790_000_000, 0)
	for n, want := range map[int]webhook.EndpointReport{
		0:      {},
		10_000: {Pending: 10_000},
		10_001: {Pending: 10_000, PendingCapped: true},
	} {
		want.OldestPendingAt = oldest
		require.Equal(t, want, webhook.EndpointReport{}.WithPendingDeliveries(n, oldest))
	}
}
