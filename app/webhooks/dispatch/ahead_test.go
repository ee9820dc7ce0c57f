//go:build !unit

package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// heldRelay calls hold before each commit, when the claims have been handed over. hold may end the context, so that
// nothing is committed.
type heldRelay struct {
	webhookports.RelayStore
	hold func(end context.CancelFunc)
}

func (r heldRelay) Relay(ctx context.Context, limit int, lease time.Duration, plan webhookports.Plan,
	ahead func([]webhookports.Claim)) (int, []webhookports.Claim, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	return r.RelayStore.Relay(ctx, limit, lease, plan, func(claims []webhookports.Claim) {
		ahead(claims)
		r.hold(end)
	})
}

// ringing has a bell that works.
func ringing(deps *dispatch.Deps, _ *dispatch.Config) { deps.BellWorks = func() bool { return true } }

func TestRelay_AJobBeforeTheCommit_IsSentAfterTheCommit(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		assert.Equal(t, map[webhook.State]int{webhook.Dispatched: 1}, f.states(), "the delivery is committed")
		return 200
	})
	f.subscribe(r.URL)
	enqueued := make(chan struct{}, 1)
	f.run(ringing, func(deps *dispatch.Deps, _ *dispatch.Config) {
		deps.Queue = watchedQueue{deps.Queue, func(context.Context) { signal(enqueued) }}
		deps.Relay = heldRelay{deps.Relay, func(context.CancelFunc) { <-enqueued }}
	})
	f.emit(webhook.DepositCancelled, 1)
	f.allIn(webhook.Succeeded, 1)
	require.Len(t, r.all(), 1)
}

func TestRelay_AJobBeforeACommitThatFails_IsSentOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	enqueued := make(chan struct{}, 1)
	var once sync.Once
	f.run(ringing, func(deps *dispatch.Deps, _ *dispatch.Config) {
		deps.Queue = watchedQueue{deps.Queue, func(context.Context) { signal(enqueued) }}
		deps.Relay = heldRelay{deps.Relay, func(end context.CancelFunc) {
			once.Do(func() {
				<-enqueued
				end()
			})
		}}
	})
	f.emit(webhook.DepositCancelled, 1)
	f.allIn(webhook.Succeeded, 1)
	require.Len(t, r.all(), 1)
}

// A dispatcher that stops has a job whose claim is not committed yet.
func TestStop_BeforeTheCommitOfAJob_HandsTheDeliveryOn(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	held, goOn := make(chan struct{}, 1), make(chan struct{})
	stop := f.run(ringing, func(deps *dispatch.Deps, _ *dispatch.Config) {
		deps.Relay = heldRelay{deps.Relay, func(context.CancelFunc) {
			signal(held)
			<-goOn
		}}
	})
	f.emit(webhook.DepositCancelled, 1)
	<-held
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	close(goOn)
	<-stopped
	f.run()
	f.allIn(webhook.Succeeded, 1)
	require.Len(t, r.all(), 1)
}
