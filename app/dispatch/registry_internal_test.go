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
