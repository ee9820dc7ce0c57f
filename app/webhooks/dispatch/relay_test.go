//go:build !unit

package dispatch_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// countedRelay counts the relays.
type countedRelay struct {
	webhookports.RelayStore
	looks *atomic.Int32
}

func (r countedRelay) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.Plan, ahead func([]webhookports.Claim)) (int, []webhookports.Claim, error) {
	r.looks.Add(1)
	return r.RelayStore.Relay(ctx, limit, lease, plan, ahead)
}

// A second relay after each successful relay would cost a transaction more for every few events.
func TestRelay_RungOnce_LooksOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var looks atomic.Int32
	stop := f.run(func(deps *dispatch.Deps, c *dispatch.Config) {
		deps.Relay, c.RelayEvery = countedRelay{deps.Relay, &looks}, time.Hour
	})
	for n := range int32(3) {
		f.emit(webhook.DepositCancelled, 5)
		f.allIn(webhook.Succeeded, 5*int(n+1))
		require.Equal(t, n+1, looks.Load())
	}
	stop()
	require.EqualValues(t, 3, looks.Load())
}

func TestRelay_MoreThanAGroup_IsTakenAtOneRing(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	f.emit(webhook.DepositCancelled, 25)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.RelayEvery, c.Batch = time.Hour, 10 })
	f.allIn(webhook.Succeeded, 25)
}
