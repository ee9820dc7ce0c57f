//go:build !unit

package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// stoppedRelay stops the dispatcher right after a relay committed.
type stoppedRelay struct {
	webhookports.RelayStore
	relayed func()
}

func (r stoppedRelay) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.Plan, ahead func([]webhookports.Claim)) (int, []webhookports.Claim, error) {
	n, claims, err := r.RelayStore.Relay(ctx, limit, lease, plan, ahead)
	if n > 0 {
		r.relayed()
	}
	return n, claims, err
}

// watchedQueue reports the context under which jobs are enqueued.
type watchedQueue struct {
	webhookports.JobQueue
	enqueue func(ctx context.Context)
}

func (q watchedQueue) Enqueue(ctx context.Context, jobs []webhookports.Job) ([]webhookports.Job, error) {
	q.enqueue(ctx)
	return q.JobQueue.Enqueue(ctx, jobs)
}

// Found by `faults -seed 11`: deliveries that a stopping dispatcher had claimed waited for the end of their leases.
func TestStop_HandsOnWhatItHasClaimed(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	f.subscribe(r.URL)
	var once sync.Once
	stopping := make(chan func(), 1)
	handed := make(chan error, 1)
	stop := f.run(func(deps *dispatch.Deps, _ *dispatch.Config) {
		deps.Relay = stoppedRelay{deps.Relay, func() {
			once.Do(func() {
				stop := <-stopping
				go stop()
			})
		}}
		deps.Queue = watchedQueue{deps.Queue, func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond): // a context that ends with the shutdown would have ended
			}
			select {
			case handed <- ctx.Err():
			default:
			}
		}}
	})
	stopping <- stop
	f.emit(webhook.DepositCancelled, 1)
	select {
	case err := <-handed:
		require.NoError(t, err, "a shutdown does not keep claims from the queue")
	case <-time.After(30 * time.Second):
		require.Fail(t, "nothing was handed on")
	}
	stop()
	f.run()
	f.allIn(webhook.Succeeded, 1)
}
