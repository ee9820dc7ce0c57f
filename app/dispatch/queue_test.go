package dispatch_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/dispatch"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// repeatingQueue hands every job out twice at once, as one does that was restored from an older state.
type repeatingQueue struct{ ports.JobQueue }

func (q repeatingQueue) Serve(ctx context.Context, concurrency map[ports.Lane]int, handle func(context.Context, ports.Job)) error {
	return q.JobQueue.Serve(ctx, concurrency, func(ctx context.Context, j ports.Job) {
		var both sync.WaitGroup
		both.Go(func() { handle(ctx, j) })
		both.Go(func() { handle(ctx, j) })
		both.Wait()
	})
}

func TestDispatch_AJobHandedOutTwice_IsSentOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		<-time.After(20 * time.Millisecond)
		return 200
	})
	f.subscribe(r.URL)
	f.run(func(deps *dispatch.Deps, _ *dispatch.Config) { deps.Queue = repeatingQueue{deps.Queue} })
	f.emit(webhook.DepositCancelled, 100)
	f.allIn(webhook.Succeeded, 100)
	require.Equal(t, 100, len(r.all()))
}

// muteQueue takes jobs and says that it could not.
type muteQueue struct{ ports.JobQueue }

func (q muteQueue) Enqueue(ctx context.Context, jobs []ports.Job) ([]ports.Job, error) {
	if left, err := q.JobQueue.Enqueue(ctx, jobs); err != nil {
		return left, err
	}
	<-time.After(20 * time.Millisecond) // the answer is lost, and it takes a while until that is known
	return jobs, errors.New("no answer")
}

// Found by `faults -seed 21`: a job that was said to be lost and was not, and its renewed claim, were both sent.
func TestDispatch_AJobOfUnknownFate_IsSentOnce(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int {
		<-time.After(100 * time.Millisecond)
		return 200
	})
	f.subscribe(r.URL)
	f.run(func(deps *dispatch.Deps, _ *dispatch.Config) { deps.Queue = muteQueue{deps.Queue} })
	const n = 20
	for range n {
		f.emit(webhook.DepositCancelled, 5)
		<-time.After(50 * time.Millisecond)
	}
	f.allIn(webhook.Succeeded, 5*n)
	require.Equal(t, 5*n, len(r.all()))
}
