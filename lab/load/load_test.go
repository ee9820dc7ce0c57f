package load_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/load"
)

func TestClosed_CallsAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	var sum atomic.Int64
	times, err := load.RunClosedLoop(t.Context(), load.LoopLength{N: 1000}, 4,
		func(i int) error { sum.Add(int64(i)); return nil })
	require.NoError(t, err)
	require.Equal(t, 1000, times.Count())
	require.EqualValues(t, 999*1000/2, sum.Load())
}

func TestClosed_WithinATime_EndsWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		times, err := load.RunClosedLoop(t.Context(), load.LoopLength{N: 100, Time: time.Second}, 2,
			func(int) error { <-time.After(300 * time.Millisecond); return nil })
		require.NoError(t, err)
		require.Equal(t, 8, times.Count())
		require.InEpsilon(t, 300, times.Percentile(50), 0.001)
	})
}

func TestLoops_AnErrorOfACall_EndsThem(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	fail := func(i int) error {
		if i == 7 {
			return refused
		}
		return nil
	}
	times, err := load.RunClosedLoop(t.Context(), load.LoopLength{N: 1_000_000}, 1, fail)
	require.ErrorIs(t, err, refused)
	require.Equal(t, 7, times.Count())

	_, _, err = load.RunOpenLoop(t.Context(), 1_000_000, 100_000, func(i int, _ time.Time) error { return fail(i) })
	require.ErrorIs(t, err, refused)
}

func TestOpen_SlowAnswers_DoNotDelayLaterCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		times, late, err := load.RunOpenLoop(t.Context(), 100, 10, func(i int, due time.Time) error {
			assert.Equal(t, begun.Add(time.Duration(i)*100*time.Millisecond), due)
			<-time.After(5 * time.Second)
			return nil
		})
		require.NoError(t, err)
		require.Zero(t, late.Percentile(100))
		require.Equal(t, 100, times.Count())
		require.InEpsilon(t, 5000, times.Percentile(50), 0.001)
		require.Equal(t, 14900*time.Millisecond, time.Since(begun))
	})
}

func TestOpen_CallsThatHang_MakeLaterCallsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		time.AfterFunc(300*time.Millisecond, func() { close(release) })

		times, late, err := load.RunOpenLoop(t.Context(), load.MaxCallsInFlight+1, 10_000, func(int, time.Time) error {
			<-release
			return nil
		})

		require.NoError(t, err)
		require.Zero(t, late.Percentile(50))
		require.InDelta(t, 300-load.MaxCallsInFlight/10.0, late.Percentile(100), 1)
		require.InDelta(t, 300, times.Percentile(100), 1)
		require.InDelta(t, 300-load.MaxCallsInFlight/10.0, times.Percentile(0), 1, "counts from the moment at which the call was due")
	})
}

func TestLoops_OfNoCalls_EndAtOnce(t *testing.T) {
	t.Parallel()
	never := errors.New("a call")
	times, err := load.RunClosedLoop(t.Context(), load.LoopLength{}, 4, func(int) error { return never })
	require.NoError(t, err)
	require.Zero(t, times.Count())
	times, _, err = load.RunOpenLoop(t.Context(), 0, 10, func(int, time.Time) error { return never })
	require.NoError(t, err)
	require.Zero(t, times.Count())
}

func TestOpen_Endless_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 950*time.Millisecond)
		defer cancel()
		_, late, err := load.RunOpenLoop(ctx, load.EndlessCalls, 10, func(int, time.Time) error { return nil })
		require.NoError(t, err)
		require.Equal(t, 10, late.Count())
	})
}

func TestSteady_AfterAnOutage_CatchesUpWithASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		var calls atomic.Int64
		load.RunSteadyLoop(ctx, 10, 1, func(next func() bool) {
			for next() {
				if calls.Add(1) == 30 { // after three seconds
					<-time.After(4 * time.Second)
				}
			}
		})
		require.EqualValues(t, 30+10+25, calls.Load())
	})
}

func TestTimes_ArePercentiles(t *testing.T) {
	t.Parallel()
	times := load.NewDurationHistogram()
	require.Zero(t, times.Percentile(99))
	for i := range 200 {
		times.Add(time.Duration(200-i) * time.Millisecond)
	}
	require.InEpsilon(t, 198, times.Percentile(99), 0.001)
	require.InEpsilon(t, 100, times.Percentile(50), 0.001)
	require.InEpsilon(t, 200, times.Percentile(100), 0.001)
	times.Add(2 * time.Hour)
	require.InEpsilon(t, time.Hour.Milliseconds(), times.Percentile(100), 0.001)
}
