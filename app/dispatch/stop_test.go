package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/dispatch"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// stoppedRelay has the dispatcher told to stop right after a relay committed.
type stoppedRelay struct {
	ports.RelayStore
	relayed func()
}

func (r stoppedRelay) Relay(ctx context.Context, limit int, lease time.Duration, plan func([]ports.Event, []ports.Subscription) []ports.Delivery) (int, []ports.Claim, error) {
	n, claims, err := r.RelayStore.Relay(ctx, limit, lease, plan)
	if n > 0 {
		r.relayed()
	}
	return n, claims, err
}

// heldQueue tells whether jobs were handed over under a context that has ended.
type heldQueue struct {
	ports.JobQueue
	enqueue func(ctx context.Context)
}

func (q heldQueue) Enqueue(ctx context.Context, jobs []ports.Job) ([]ports.Job, error) {
	q.enqueue(ctx)
	return q.JobQueue.Enqueue(ctx, jobs)
}

// Found by `faults -seed 11`: deliveries claimed by a dispatcher that was stopping waited for the end of their leases.
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
		deps.Queue = heldQueue{deps.Queue, func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond): // by now it would have ended
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
		require.NoError(t, err, "what is claimed is handed on, told to stop or not")
	case <-time.After(30 * time.Second):
		require.Fail(t, "nothing was handed on")
	}
	stop()
	f.run()
	f.allIn(webhook.Succeeded, 1)
}
