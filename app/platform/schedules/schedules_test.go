package schedules_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/schedules"
)

// begin runs a scheduler in the background of a synctest bubble. stop ends the scheduler and waits for its end.
func begin(t *testing.T, log *slog.Logger, jobs ...schedules.Job) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- schedules.New(log, ran{}, nil, jobs...).Run(ctx) }()
	return func() { cancel(); require.NoError(t, <-done) }
}

// ran counts the rounds of each job by their success, unless it is nil.
type ran map[string]map[bool]int

func (r ran) Ran(job string, succeeded bool) {
	if counts := r[job]; counts != nil {
		counts[succeeded]++
	}
}

// A process that lives for less than an hour must look after the partitions too, and an error must not last an hour.
func TestRun_JobThatIsDueSoon_RunsWithinSecondsAndAgainAMinuteAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var rounds []time.Duration
		stop := begin(t, slog.New(slog.DiscardHandler),
			schedules.Job{Name: "hourly", Every: time.Hour, Soon: true, Run: func(context.Context) (bool, error) {
				rounds = append(rounds, time.Since(began))
				if len(rounds) < 3 {
					return false, errors.New("no luck")
				}
				return false, nil
			}})
		<-time.After(45 * time.Minute)
		stop()
		require.Len(t, rounds, 3)
		require.LessOrEqual(t, rounds[0], 5*time.Second)
		require.InDelta(t, 60, (rounds[2] - rounds[1]).Seconds(), 15)
	})
}

func TestRun_CountsTheRoundsOfEachJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := ran{"good": {}, "bad": {}, "worse": {}}
		every := func(name string, run func() error) schedules.Job {
			return schedules.Job{Name: name, Every: time.Second,
				Run: func(context.Context) (bool, error) { return false, run() }}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- schedules.New(slog.New(slog.DiscardHandler), counts, nil,
				every("good", func() error { return nil }),
				every("bad", func() error { return errors.New("no luck") }),
				every("worse", func() error { panic("poisoned row") }),
			).Run(ctx)
		}()
		<-time.After(time.Minute)
		cancel()
		require.NoError(t, <-done)
		require.Greater(t, counts["good"][true], 40)
		require.Greater(t, counts["bad"][false], 40)
		require.Greater(t, counts["worse"][false], 40)
		require.Zero(t, counts["good"][false]+counts["bad"][true]+counts["worse"][true])
	})
}

func TestRun_ComesRoundOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rounds atomic.Int64
		stop := begin(t, slog.New(slog.DiscardHandler),
			schedules.Job{Name: "count", Every: 10 * time.Second, Run: func(context.Context) (bool, error) {
				rounds.Add(1)
				return false, nil
			}})
		<-time.After(10 * time.Second)
		synctest.Wait()
		require.Positive(t, rounds.Load(), "the first round comes within one interval")
		<-time.After(990 * time.Second)
		stop()
		require.InDelta(t, 100, rounds.Load(), 25)
	})
}

func TestRun_GoesOnAtOnceWhileThereIsMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, begun := 50, time.Time{}
		var took time.Duration
		stop := begin(t, slog.New(slog.DiscardHandler),
			schedules.Job{Name: "drain", Every: time.Hour, Run: func(context.Context) (bool, error) {
				switch {
				case left == 0: // the next interval, whose jitter may begin it within the hour
					return false, nil
				case begun.IsZero():
					begun = time.Now()
				}
				left--
				took = time.Since(begun)
				return left > 0, nil
			}})
		<-time.After(time.Hour)
		synctest.Wait()
		stop()
		require.Zero(t, left)
		require.Zero(t, took)
	})
}

func TestRun_ContainsErrorsAndPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		good, bad := 0, 0
		stop := begin(t, slog.New(slog.NewTextHandler(&log, nil)),
			schedules.Job{Name: "good", Every: time.Second,
				Run: func(context.Context) (bool, error) { good++; return false, nil }},
			schedules.Job{Name: "bad", Every: time.Second, Run: func(context.Context) (bool, error) {
				bad++
				if bad%2 == 0 {
					panic("poisoned row")
				}
				return true, errors.New("no luck")
			}},
		)
		<-time.After(time.Minute)
		stop()
		require.Greater(t, good, 40)
		require.InDelta(t, good, bad, 20, "a failing job keeps its interval")
		require.Contains(t, log.String(), `job=bad error="no luck"`)
		require.Contains(t, log.String(), `job=bad panic="poisoned row"`)
	})
}

func TestRun_LetsTheRoundUnderWayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		finished := false
		stop := begin(t, slog.New(slog.NewTextHandler(&log, nil)),
			schedules.Job{Name: "slow", Every: time.Second, Run: func(ctx context.Context) (bool, error) {
				<-ctx.Done()
				<-time.After(time.Second) // the round completes its work
				finished = true
				return false, ctx.Err()
			}})
		<-time.After(2 * time.Second)
		stop()
		require.True(t, finished)
		require.Empty(t, log.String(), "being told to stop is no failure")
	})
}
