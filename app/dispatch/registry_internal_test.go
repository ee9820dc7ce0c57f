package dispatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// A scan goes on claiming for the endpoints it found. One that is held has nothing under way, so it is forgotten meanwhile.
func TestRegistry_AForgottenEndpoint_IsStillHeld(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	held := ports.Endpoint{ID: id.ID{1}, Health: webhook.Health{Failures: 30, FailingSince: now.Add(-time.Hour), Slow: true, Holds: 1, HeldUntil: now.Add(time.Second)}}
	r := newRegistry(16, 128, 1000)
	r.observe([]ports.Endpoint{held})
	r.correct(nil, r.mark())
	require.Empty(t, r.rooms([]ports.Endpoint{held}, now))
	require.Equal(t, []ports.Room{{SubscriptionID: held.ID, Room: 1}}, r.rooms([]ports.Endpoint{held}, held.Health.HeldUntil), "one probe")
}

func TestRegistry_Slots_FollowTheEndpointsHealth(t *testing.T) {
	const limit = 16
	sub := id.ID{1}
	r := newRegistry(limit, 128, 1000)
	queued := func(n byte) (taken int) {
		for i := range n {
			if r.slot(task{claim: ports.Claim{SubscriptionID: sub, DeliveryID: id.ID{2, i}}}) {
				taken++
			}
		}
		return taken
	}
	become := func(h webhook.Health) (slotted, surplus []task) { return r.adjust(map[id.ID]webhook.Health{sub: h}) }
	require.Equal(t, limit, queued(40))

	slotted, surplus := become(webhook.Health{Failures: 5, Slow: true})
	require.Empty(t, slotted)
	require.Empty(t, surplus, "they go on, fewer at once")
	for range limit - limit/8 {
		require.Empty(t, r.next(sub), "more are under way than may be")
	}
	require.Len(t, r.next(sub), 1)

	slotted, _ = become(webhook.Health{Slow: true})
	require.Len(t, slotted, limit-limit/8, "it answers again: nobody waits for those that are under way")

	_, surplus = become(webhook.Health{Failures: 20, Slow: true, Holds: 1, HeldUntil: time.Unix(1_790_000_000, 0)})
	require.Len(t, surplus, 40-limit-1-(limit-limit/8))
	for range limit {
		require.Empty(t, r.next(sub))
	}
	require.Equal(t, 1, queued(3), "a probe")

	slotted, surplus = become(webhook.Health{Slow: true, Ramp: 2})
	require.Empty(t, surplus)
	require.Len(t, slotted, 1)
}
