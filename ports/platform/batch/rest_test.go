package batch_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/ports/platform/batch"
)

const (
	took      = 4 * time.Millisecond // a batch
	longest   = 3 * time.Millisecond // a pause
	threshold = 6
)

// ran is a batch under a simulated clock: when it began, and its calls.
type ran struct {
	at time.Duration
	n  int
}

// resting runs story with a queue that pauses, and gives its batches.
func resting(t *testing.T, story func(q *batch.Queue[int], calls *sync.WaitGroup)) (batches []ran) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		q := &batch.Queue[int]{Workers: 2, Limit: 10, Threshold: threshold, Rest: longest,
			Run: func(b []int) {
				batches = append(batches, ran{time.Since(began), len(b)})
				<-time.After(took)
			}}
		var calls sync.WaitGroup
		story(q, &calls)
		calls.Wait()
		<-time.After(time.Second)
		require.Zero(t, q.Busy())
	})
	return batches
}

// call makes n calls at once, and returns when they run or wait.
func call(q *batch.Queue[int], calls *sync.WaitGroup, n int) {
	for range n {
		calls.Go(func() { q.AddAndWait(0) })
		synctest.Wait()
	}
}

func TestRest_CallsOneAfterAnother_NeverWait(t *testing.T) {
	t.Parallel()
	batches := resting(t, func(q *batch.Queue[int], calls *sync.WaitGroup) {
		for range 3 {
			call(q, calls, 1)
			calls.Wait()
		}
	})
	require.Equal(t, []ran{{0, 1}, {took, 1}, {2 * took, 1}}, batches)
}

func TestRest_AfterABatchThatOthersWaitBehind_TheNextWaitsForOthers(t *testing.T) {
	t.Parallel()
	batches := resting(t, func(q *batch.Queue[int], calls *sync.WaitGroup) {
		call(q, calls, 4) // one runs, three wait
		<-time.After(took + longest - 1)
		synctest.Wait()
		require.Equal(t, 3, q.CountWaiting())
	})
	require.Equal(t, []ran{{0, 1}, {took + longest, 3}}, batches)
}

func TestRest_EndsWhenAsManyWaitAsThereWere(t *testing.T) {
	t.Parallel()
	batches := resting(t, func(q *batch.Queue[int], calls *sync.WaitGroup) {
		call(q, calls, 3)
		<-time.After(took + time.Millisecond)
		call(q, calls, 1)
	})
	require.Equal(t, []ran{{0, 1}, {took + time.Millisecond, 3}}, batches)
}

func TestRest_AThresholdOfCalls_DoesNotWait(t *testing.T) {
	t.Parallel()
	batches := resting(t, func(q *batch.Queue[int], calls *sync.WaitGroup) {
		call(q, calls, 1+threshold) // a second worker takes the threshold
		<-time.After(took)
		synctest.Wait()
		call(q, calls, threshold-1)
		<-time.After(longest / 2)
		call(q, calls, 1)
	})
	require.Equal(t, []ran{{0, 1}, {0, threshold}, {took + longest/2, threshold}}, batches)
}
