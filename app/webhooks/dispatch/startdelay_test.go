//go:build !unit

package dispatch_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
)

func (f *fixture) passes(span time.Duration) {
	f.t.Helper()
	until := time.Now().Add(span)
	f.eventually("time passes", func() bool { return time.Now().After(until) })
}

// The due time passes through the relay, the queue and the worker.
func TestStartDelay_WhileNoDispatcherRuns_CountsTheWait(t *testing.T) {
	f := newFixture(t)
	f.subscribe(newReceiver(t, nil).URL)
	f.emit(webhook.DepositActivated, 3)
	f.passes(1500 * time.Millisecond)
	var counted reached
	f.run(func(d *dispatch.Deps, _ *dispatch.Config) { d.Metrics = &counted })
	f.allIn(webhook.Succeeded, 3)
	f.eventually("each start is counted", func() bool { return counted.starts.Load() == 3 && counted.n.Load() == 3 })
	require.Greater(t, time.Duration(counted.longest.Load()), 1500*time.Millisecond)
	require.Less(t, time.Duration(counted.longest.Load()), 30*time.Second)
}

// A receiver that fails for a while has a backlog then. Its wait is the partner's doing.
func TestStartDelay_OfABacklogOfAFailingReceiver_IsNotCounted(t *testing.T) {
	f := newFixture(t)
	var status atomic.Int32
	status.Store(http.StatusInternalServerError)
	r := newReceiver(t, func(received, int) int { return int(status.Load()) })
	sub := f.subscribe(r.URL)
	var counted reached
	f.run(func(d *dispatch.Deps, c *dispatch.Config) {
		d.Metrics, c.Schedule = &counted, make(webhook.Schedule, 1000)
		for i := range c.Schedule {
			c.Schedule[i] = 100 * time.Millisecond
		}
		c.Schedule[0] = 0
	})
	f.emit(webhook.DepositActivated, 100)
	f.becomes(sub, webhook.EndpointFailing)
	f.passes(4 * time.Second)
	status.Store(http.StatusOK)
	f.allIn(webhook.Succeeded, 100)
	f.becomes(sub, webhook.EndpointHealthy)
	f.emit(webhook.DepositActivated, 1)
	f.eventually("healthy again, starts count", func() bool { return counted.starts.Load() > 0 })
	require.Less(t, time.Duration(counted.longest.Load()), 3*time.Second)
}
