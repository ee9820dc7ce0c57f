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

	"partnerdeposits/app/schedules"
)

// begin runs a scheduler in the background of a synctest bubble. stop ends the scheduler and waits for its end.
func begin(t *testing.T, log *slog.Logger, jobs ...schedules.Job) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- schedules.New(log, jobs...).Run(ctx) }()
	return func() { cancel(); require.NoError(t, <-done) }
}

func TestRun_ComesRoundOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rounds atomic.Int64
		stop := begin(t, slog.New(slog.DiscardHandler), schedules.Job{Name: "count", Every: 10 * time.Second, Run: func(context.Context) (bool, error) {
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
		stop := begin(t, slog.New(slog.DiscardHandler), schedules.Job{Name: "drain", Every: time.Hour, Run: func(context.Context) (bool, error) {
			if begun.IsZero() {
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
			schedules.Job{Name: "good", Every: time.Second, Run: func(context.Context) (bool, error) { good++; return false, nil }},
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
		stop := begin(t, slog.New(slog.NewTextHandler(&log, nil)), schedules.Job{Name: "slow", Every: time.Second, Run: func(ctx context.Context) (bool, error) {
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
