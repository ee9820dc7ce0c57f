//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
)

// Claims from before the circuit opened are released, so that only a probe is sent.
func TestDispatch_AnOpenCircuit_ReleasesTheClaimsThatWait(t *testing.T) {
	const slots, claimed = 16, 100
	f := newFixture(t)
	first, later, posts := make(chan struct{}), make(chan struct{}), make(chan struct{}, claimed)
	var n atomic.Int32
	r := newReceiver(t, func(received, int) int {
		posts <- struct{}{}
		if n.Add(1) <= slots {
			<-first
		} else {
			<-later
		}
		return http.StatusInternalServerError
	})
	fail, failLater := sync.OnceFunc(func() { close(first) }), sync.OnceFunc(func() { close(later) })
	t.Cleanup(func() { fail(); failLater() })
	sub := f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.EndpointConcurrency, c.Timeout, c.Lease = slots, time.Minute, 5*time.Minute
		c.Schedule = webhook.Schedule{0, time.Hour, time.Hour}
	})
	f.emit(webhook.DepositCancelled, claimed)
	for range slots {
		select {
		case <-posts:
		case <-time.After(30 * time.Second):
			require.Fail(t, "not every slot is used")
		}
	}
	count := func(where string) (n int) {
		require.NoError(t,
			f.Pool.QueryRow(context.WithoutCancel(t.Context()), `SELECT count(*) FROM deliveries WHERE `+where).Scan(&n))
		return n
	}
	f.eventually("the others are claimed", func() bool { return count(`state = 1`) == claimed })
	_, err := f.Pool.Exec(t.Context(),
		`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour', holds = 9 WHERE id = $1`,
		sub)
	require.NoError(t, err)
	fail()
	f.eventually("they are given back", func() bool { return count(`state = 0 AND attempts = 0`) >= claimed/2 })
	failLater()
	f.eventually("and nothing is under way", func() bool { return count(`state = 1`) == 0 })
	require.LessOrEqual(t, count(`attempts > 0`), claimed/2)
}
