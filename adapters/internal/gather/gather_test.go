package gather_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/internal/gather"
)

func TestDo_APlaceIsFree_GoesAtOnceAlone(t *testing.T) {
	t.Parallel()
	var crews [][]int
	q := gather.Queue[int]{Places: 1, Most: 10, Run: func(crew []int) { crews = append(crews, crew) }}
	q.Do("a", 1)
	q.Do("a", 2)
	require.Equal(t, [][]int{{1}, {2}}, crews)
}

func TestDo_AllPlacesTaken_WhoComesMeanwhileGoesTogether(t *testing.T) {
	t.Parallel()
	const others, most = 7, 5
	entered, leave := make(chan struct{}), make(chan struct{})
	var sizes []int
	q := gather.Queue[int]{Places: 1, Most: most}
	q.Run = func(crew []int) {
		if sizes = append(sizes, len(crew)); len(sizes) == 1 {
			close(entered)
			<-leave
		}
	}
	var group sync.WaitGroup
	group.Go(func() { q.Do("a", 0) })
	<-entered
	for i := range others {
		group.Go(func() { q.Do("a", i) })
	}
	for q.Waiting("a") < others {
		runtime.Gosched()
	}
	q.Do("b", 1) // another line is not held up
	close(leave)
	group.Wait()
	require.Equal(t, []int{1, 1, most, others - most}, sizes)
	require.Zero(t, q.Lines(), "an idle line is forgotten")
}

func TestDo_ACrowdWaits_TakesAnotherPlace(t *testing.T) {
	t.Parallel()
	const crowd = 4
	entered, leave := make(chan int, crowd), make(chan struct{})
	q := gather.Queue[int]{Places: 2, Most: 10, Crowd: crowd}
	q.Run = func(crew []int) {
		entered <- len(crew)
		<-leave
	}
	var group sync.WaitGroup
	group.Go(func() { q.Do("", 0) })
	require.Equal(t, 1, <-entered)
	for i := range crowd {
		group.Go(func() { q.Do("", i) })
	}
	require.Equal(t, crowd, <-entered, "together, while the first is still under way")
	group.Go(func() { q.Do("", 0) })
	for q.Waiting("") < 1 {
		runtime.Gosched()
	}
	leave <- struct{}{} // of two places one is left for a single caller
	leave <- struct{}{}
	require.Equal(t, 1, <-entered)
	leave <- struct{}{}
	group.Wait()
	require.Zero(t, q.Lines())
}

func TestDo_RunPanics_FreesThePlaceAndTheOthers(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	q := gather.Queue[int]{Places: 1, Most: 10}
	q.Run = func(crew []int) {
		if len(crew) > 1 {
			panic("boom")
		}
		entered <- struct{}{}
		<-leave
	}
	var panicked atomic.Int64
	var group sync.WaitGroup
	group.Go(func() { q.Do("", 0) })
	<-entered
	for range 3 {
		group.Go(func() {
			defer func() {
				if recover() != nil {
					panicked.Add(1)
				}
			}()
			q.Do("", 1)
		})
	}
	for q.Waiting("") < 3 {
		runtime.Gosched()
	}
	leave <- struct{}{}
	group.Wait()
	require.EqualValues(t, 1, panicked.Load(), "its leader")
	require.Zero(t, q.Lines())
}

func TestDo_ManyCallers_EachIsInOneCrew(t *testing.T) {
	t.Parallel()
	const callers, rounds, places = 32, 500, 3
	var done, running, most atomic.Int64
	q := gather.Queue[*atomic.Int64]{Places: places, Most: 8}
	q.Run = func(crew []*atomic.Int64) {
		if now := running.Add(1); now > most.Load() {
			most.Store(now)
		}
		for _, n := range crew {
			n.Add(1)
		}
		running.Add(-1)
	}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range rounds {
				var mine atomic.Int64
				q.Do("", &mine)
				if mine.Load() == 1 {
					done.Add(1)
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(t, callers*rounds, done.Load())
	require.LessOrEqual(t, most.Load(), int64(places))
	require.Zero(t, q.Lines())
}
