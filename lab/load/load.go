// Package load calls a service in three kinds of loops, and records how long the calls take.
//
//	Closed   each connection calls again as soon as it has its answer: the service decides the rate
//	Steady   the same, but at most so many calls a second
//	Open     calls are due at fixed moments, however slow the answers are
//
// The time of a call in an open loop counts from the moment at which the call was due. So calls that had to wait
// behind a slow answer show the wait (no coordinated omission).
package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"
)

// LoopLength is the length of a closed load loop: N calls, or the calls that begin within Time; with both,
// whichever ends first.
type LoopLength struct {
	N    int
	Time time.Duration
}

// RunClosedLoop calls call(0), call(1), … on each connection, each as soon as the last one ends, up to the first
// error. It returns the durations of the successful calls.
func RunClosedLoop(ctx context.Context, length LoopLength, connections int,
	call func(i int) error) (*DurationHistogram, error) {
	var next atomic.Int64
	times, end := NewDurationHistogram(), time.Now().Add(length.Time)
	group, serving := errgroup.WithContext(ctx)
	for range connections {
		group.Go(func() error {
			for serving.Err() == nil {
				i := int(next.Add(1)) - 1
				begun := time.Now()
				if (length.N > 0 || length.Time == 0) && i >= length.N || length.Time > 0 && !begun.Before(end) {
					return nil
				}
				if err := call(i); err != nil {
					return err
				}
				times.Add(time.Since(begun))
			}
			return nil
		})
	}
	err := group.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return times, err
}

// RunSteadyLoop runs work on each connection until ctx ends. next waits for one of perSecond turns a second, and
// returns false at the end. Turns missed in the last second are made up for.
func RunSteadyLoop(ctx context.Context, perSecond, connections int, work func(next func() bool)) {
	limiter := rate.NewLimiter(rate.Limit(perSecond), perSecond)
	// The load starts without missed turns to make up for.
	limiter.AllowN(time.Now(), perSecond)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() { work(func() bool { return limiter.Wait(ctx) == nil }) })
	}
	all.Wait()
}

const (
	// MaxCallsInFlight bounds the calls in flight in an open load loop. Later calls begin late.
	MaxCallsInFlight = 256
	// EndlessCalls makes an open load loop run until its context ends.
	EndlessCalls = -1
)

// timerGrain is how late a Go timer may be, since it waits for whole milliseconds.
const timerGrain = 2 * time.Millisecond

// await waits until a moment, and reports whether it came before the end of ctx.
func await(ctx context.Context, timer *time.Timer, moment time.Time) bool {
	timer.Reset(time.Until(moment))
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// RunOpenLoop calls call(0), call(1), … at a steady rate, whether or not earlier calls have ended, up to the first
// error. It returns the durations from the moments at which the calls were due, and by how much each began late.
func RunOpenLoop(ctx context.Context, n, perSecond int,
	call func(i int, due time.Time) error) (times, late *DurationHistogram, err error) {
	times, late = NewDurationHistogram(), NewDurationHistogram()
	group, serving := errgroup.WithContext(ctx)
	group.SetLimit(MaxCallsInFlight)
	begun := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; (n == EndlessCalls || i < n) && serving.Err() == nil; i++ {
		due := begun.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
		if !await(serving, timer, due.Add(-timerGrain)) {
			continue
		}
		left := unix.NsecToTimeval(max(0, time.Until(due)).Nanoseconds())
		// select with a timeout sleeps more precisely than a Go timer.
		_, _ = unix.Select(0, nil, nil, nil, &left)
		// A signal may end the sleep early, and the clock may be a simulated one.
		if !await(serving, timer, due) {
			continue
		}
		group.Go(func() error {
			late.Add(time.Since(due))
			if err := call(i, due); err != nil {
				return err
			}
			times.Add(time.Since(due))
			return nil
		})
	}
	if err = group.Wait(); err == nil && n != EndlessCalls {
		err = ctx.Err()
	}
	return times, late, err
}
