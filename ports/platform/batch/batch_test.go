package batch_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/ports/platform/batch"
)

// awaitWaiting returns when n calls wait.
func awaitWaiting[T any](q *batch.Queue[T], n int) {
	for q.CountWaiting() < n {
		runtime.Gosched()
	}
}

func TestDo_AWorkerIsFree_RunsAtOnceAlone(t *testing.T) {
	t.Parallel()
	var batches [][]int
	q := batch.Queue[int]{Workers: 1, Limit: 10, Run: func(b []int) { batches = append(batches, b) }}
	q.AddAndWait(1)
	q.AddAndWait(2)
	require.Equal(t, [][]int{{1}, {2}}, batches)
}

func TestDo_AllWorkersBusy_CallsMeanwhileRunTogether(t *testing.T) {
	t.Parallel()
	const others, limit = 7, 5
	entered, leave := make(chan struct{}), make(chan struct{})
	var sizes []int
	q := batch.Queue[int]{Workers: 1, Limit: limit}
	q.Run = func(b []int) {
		if sizes = append(sizes, len(b)); len(sizes) == 1 {
			close(entered)
			<-leave
		}
	}
	var group sync.WaitGroup
	group.Go(func() { q.AddAndWait(0) })
	<-entered
	for i := range others {
		group.Go(func() { q.AddAndWait(i) })
	}
	awaitWaiting(&q, others)
	close(leave)
	group.Wait()
	require.Equal(t, []int{1, limit, others - limit}, sizes)
	require.Zero(t, q.Busy())
}

func TestDo_ThresholdReached_StartsAnotherWorker(t *testing.T) {
	t.Parallel()
	const threshold = 4
	entered, leave := make(chan int, threshold), make(chan struct{})
	q := batch.Queue[int]{Workers: 2, Limit: 10, Threshold: threshold}
	q.Run = func(b []int) {
		entered <- len(b)
		<-leave
	}
	var group sync.WaitGroup
	group.Go(func() { q.AddAndWait(0) })
	require.Equal(t, 1, <-entered)
	for i := range threshold {
		group.Go(func() { q.AddAndWait(i) })
	}
	require.Equal(t, threshold, <-entered, "together, while the first batch still runs")
	group.Go(func() { q.AddAndWait(0) })
	awaitWaiting(&q, 1)
	leave <- struct{}{} // both running batches end; a single call gets the first worker only
	leave <- struct{}{}
	require.Equal(t, 1, <-entered)
	leave <- struct{}{}
	group.Wait()
	require.Zero(t, q.Busy())
}

func TestDo_RunPanics_EveryCallerPanicsAndTheWorkerIsFree(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	entered, leave := make(chan struct{}), make(chan struct{})
	q := batch.Queue[int]{Workers: 1, Limit: 10}
	q.Run = func(b []int) {
		if len(b) > 1 {
			panic(boom)
		}
		entered <- struct{}{}
		<-leave
	}
	const others = 3
	panics := make(chan any, others)
	var group sync.WaitGroup
	group.Go(func() { q.AddAndWait(0) })
	<-entered
	for range others {
		group.Go(func() {
			defer func() { panics <- recover() }()
			q.AddAndWait(1)
		})
	}
	awaitWaiting(&q, others)
	leave <- struct{}{}
	group.Wait()
	for range others {
		require.Equal(t, boom, <-panics)
	}
	require.Zero(t, q.Busy())
	group.Go(func() { q.AddAndWait(0) })
	<-entered
	leave <- struct{}{}
	group.Wait()
}

func TestDo_RunEndsItsGoroutine_TheOtherCallersPanic(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	q := batch.Queue[int]{Workers: 1, Limit: 10}
	q.Run = func(b []int) {
		if len(b) > 1 {
			runtime.Goexit()
		}
		close(entered)
		<-leave
	}
	var group sync.WaitGroup
	group.Go(func() { q.AddAndWait(0) })
	<-entered
	var panicked atomic.Int64
	for range 2 {
		group.Go(func() {
			defer func() {
				if recover() != nil {
					panicked.Add(1)
				}
			}()
			q.AddAndWait(1)
		})
	}
	awaitWaiting(&q, 2)
	close(leave)
	group.Wait()
	require.EqualValues(t, 1, panicked.Load())
	require.Zero(t, q.Busy())
}

func TestDoContext_CallerLeaves_TheOthersRunWithoutItsItem(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	var batches [][]int
	q := batch.Queue[int]{Workers: 1, Limit: 10}
	q.Run = func(b []int) {
		if batches = append(batches, b); len(batches) == 1 {
			close(entered)
			<-leave
		}
	}
	var group sync.WaitGroup
	group.Go(func() { q.AddAndWait(0) })
	<-entered
	ctx, end := context.WithCancel(t.Context())
	left := make(chan error, 1)
	for i, of := range []context.Context{t.Context(), ctx, t.Context()} {
		group.Go(func() {
			if err := q.AddAndWaitContext(of, i+1); err != nil {
				left <- err
			}
		})
		awaitWaiting(&q, i+1)
	}
	end()
	require.ErrorIs(t, <-left, context.Canceled, "while the first batch still runs")
	require.Equal(t, 2, q.CountWaiting())
	close(leave)
	group.Wait()
	require.Equal(t, [][]int{{0}, {1, 3}}, batches)
	require.Empty(t, left)
	require.Zero(t, q.Busy())
}

// A context may end at any moment: before its batch, during its batch, or while its caller leads.
func TestDoContext_ManyCallersLeave_NoBatchIsLost(t *testing.T) {
	t.Parallel()
	const callers, rounds = 16, 300
	q := batch.Queue[*atomic.Int64]{Workers: 2, Limit: 4, Threshold: 3}
	q.Run = func(b []*atomic.Int64) {
		for _, n := range b {
			n.Add(1)
			runtime.Gosched()
		}
	}
	var stayed, ran, left atomic.Int64
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for range rounds {
				ctx, end := context.WithCancel(t.Context())
				if i%2 == 0 {
					go end()
				}
				item := new(atomic.Int64)
				if err := q.AddAndWaitContext(ctx, item); err != nil {
					left.Add(1)
				} else {
					stayed.Add(1)
					ran.Add(item.Load())
				}
				end()
			}
		})
	}
	group.Wait()
	require.Equal(t, stayed.Load(), ran.Load(), "the item of each caller that stayed ran once")
	require.EqualValues(t, callers*rounds, stayed.Load()+left.Load())
	require.Zero(t, q.Busy())
}

func TestDo_Linger_WaitsForFurtherItems(t *testing.T) {
	t.Parallel()
	const limit = 3
	sizes := make(chan int, limit)
	q := batch.Queue[int]{Workers: 2, Limit: limit, Linger: time.Hour, Run: func(b []int) { sizes <- len(b) }}
	var group sync.WaitGroup
	for i := range limit {
		group.Go(func() { q.AddAndWait(i) })
	}
	group.Wait() // a full batch does not wait for the hour to end
	require.Equal(t, limit, <-sizes)

	q.Linger = time.Millisecond
	q.AddAndWait(0)
	require.Equal(t, 1, <-sizes, "the linger ended")
	require.Zero(t, q.Busy())
}

func TestDo_OneBatchGrowsAtATime_FurtherItemsJoinIt(t *testing.T) {
	t.Parallel()
	const limit = 2
	entered, leave := make(chan int, 4), make(chan struct{})
	q := batch.Queue[int]{Workers: 2, Limit: limit, Linger: time.Hour}
	q.Run = func(b []int) {
		entered <- len(b)
		<-leave
	}
	var group sync.WaitGroup
	for i := range 2*limit + 1 {
		group.Go(func() { q.AddAndWait(i) })
	}
	require.Equal(t, limit, <-entered)
	require.Equal(t, limit, <-entered, "the second worker has a full batch too")
	awaitWaiting(&q, 1)
	leave <- struct{}{}
	group.Go(func() { q.AddAndWait(9) })
	require.Equal(t, limit, <-entered, "of the call that waited and the one that came later")
	close(leave)
	group.Wait()
	require.Zero(t, q.Busy())
}

func TestDo_ManyCallers_EachIsInOneBatch(t *testing.T) {
	t.Parallel()
	const callers, rounds, workers, limit = 32, 300, 3, 8
	for name, q := range map[string]*batch.Queue[*atomic.Int64]{
		"at once":   {Workers: workers, Limit: limit},
		"threshold": {Workers: workers, Limit: limit, Threshold: 4},
		"linger":    {Workers: workers, Limit: limit, Linger: 50 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var done, running, most, largest atomic.Int64
			q.Run = func(b []*atomic.Int64) {
				raise(&most, running.Add(1))
				raise(&largest, int64(len(b)))
				for _, n := range b {
					n.Add(1)
				}
				running.Add(-1)
			}
			var group sync.WaitGroup
			for range callers {
				group.Go(func() {
					for range rounds {
						var mine atomic.Int64
						q.AddAndWait(&mine)
						if mine.Load() == 1 {
							done.Add(1)
						}
					}
				})
			}
			group.Wait()
			require.EqualValues(t, callers*rounds, done.Load())
			require.LessOrEqual(t, most.Load(), int64(workers))
			require.LessOrEqual(t, largest.Load(), int64(limit))
			require.Zero(t, q.Busy())
		})
	}
}

// raise sets v to n where n is larger.
func raise(v *atomic.Int64, n int64) {
	for old := v.Load(); n > old && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}
