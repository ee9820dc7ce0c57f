//go:build !unit

package dispatch_test

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sender "partnerdeposits/adapters/webhook"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
)

// tried counts attempts, beside the starts.
type tried struct {
	reached
	attempts atomic.Int32
}

func (c *tried) CountAttempt(webhook.EventName, webhook.AttemptResult, time.Duration, string) {
	c.attempts.Add(1)
}

// A dispatcher without descriptors blames no endpoint, and delivers soon after it has some again.
func TestDispatch_WithoutASocket_UsesUpNoAttempt(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	sub := f.subscribe(r.URL)
	var lacks atomic.Bool
	lacks.Store(true)
	var told atomic.Int32
	var counted tried
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Metrics = &counted
		c.Schedule = webhook.RetrySchedule{0} // a failed attempt would be the last
		d.Sender = sender.NewSender(sender.Config{
			Timeout: 2 * time.Second, AllowInsecure: true, EndpointConcurrency: 64,
			NoSocket: func(error) { told.Add(1) },
			AddressCheck: func(string, string, syscall.RawConn) error {
				if lacks.Load() {
					return syscall.EMFILE
				}
				return nil
			},
		})
	})
	began := time.Now()
	f.emit(webhook.EventDepositActivated, 3)
	f.eventually("each was put off for a second, and then for two", func() bool {
		return f.Count("deliveries", `state = 0 AND seq >= 2`) == 3
	})
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, 3, f.Count("deliveries", `attempts = 0 AND finished_at IS NULL`))
	require.Zero(t, f.Count("delivery_attempts", "true"))
	require.Zero(t, f.Count("webhook_notices", "true"))
	require.Equal(t, 1, f.Count("webhook_subscriptions",
		`failures = 0 AND failing_since IS NULL AND last_failure_at IS NULL AND last_error IS NULL AND NOT slow`))
	require.Equal(t, webhook.EndpointHealthy, f.report(sub).State)
	require.Zero(t, counted.attempts.Load())
	require.GreaterOrEqual(t, time.Duration(counted.longest.Load()), 2*time.Second)

	lacks.Store(false)
	f.allIn(webhook.DeliveryStateSucceeded, 3)
	require.Equal(t, 3, f.Count("deliveries", `attempts = 1 AND seq >= 3`))
	var dispatches int
	require.NoError(t, f.Pool.QueryRow(t.Context(), `SELECT sum(seq) FROM deliveries`).Scan(&dispatches))
	require.EqualValues(t, dispatches-3, told.Load(), "every dispatch but the last of each lacked a socket")
	require.EqualValues(t, dispatches-3, counted.starts.Load(), "and counts as a late start")
	require.EqualValues(t, 3, counted.attempts.Load())
	require.Len(t, r.all(), 3)
}
