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
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/procs"
)

// begin runs a scheduler in the background of a synctest bubble. stop ends the scheduler and waits for its end.
func begin(t *testing.T, log *slog.Logger, jobs ...schedules.Job) (stop func()) {
	t.Helper()
	return beginCounted(t, log, ran{}, jobs...)
}

func beginCounted(t *testing.T, log *slog.Logger, counts ran, jobs ...schedules.Job) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- schedules.New(log, counts, jobs...).Run(ctx) }()
	return func() { cancel(); require.NoError(t, <-done) }
}

// ran counts the rounds of each job by their success, unless it is nil.
type ran map[string]map[bool]int

func (r ran) CountRound(job string, succeeded bool) {
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

func TestRun_ContainsErrorsAndPanics_AndCountsTheRoundsOfEachJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		good, bad, counts := 0, 0, ran{"good": {}, "bad": {}}
		stop := beginCounted(t, slog.New(slog.NewTextHandler(&log, nil)), counts,
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
		require.Equal(t, ran{"good": {true: good}, "bad": {false: bad}}, counts)
		require.Contains(t, log.String(), `job=bad error="no luck"`)
		require.Contains(t, log.String(), `job=bad panic="poisoned row"`)
	})
}

// A lock on the table of mails is no outage of the database for the other jobs.
func TestRun_AnOutageOfOneJob_IsOverWhenThatJobWorksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log procs.OutputBuffer
		began := time.Now()
		stop := begin(t, slog.New(slog.NewTextHandler(&log, nil)),
			schedules.Job{Name: "good", Every: time.Second, Run: func(context.Context) (bool, error) { return false, nil }},
			schedules.Job{Name: "mail", Every: 5 * time.Second, Run: func(context.Context) (bool, error) {
				if time.Since(began) < time.Minute {
					return false, fault.ErrUnavailable
				}
				return false, nil
			}})
		<-time.After(58 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), `msg="scheduled job failed" job=mail`))
		require.NotContains(t, log.String(), "over: ")
		<-time.After(time.Minute)
		stop()
		require.Equal(t, 1, strings.Count(log.String(), `msg="over: scheduled job failed"`))
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
