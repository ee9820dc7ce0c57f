package schedules_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/schedules"
	ports "partnerdeposits/ports/platform"
)

// world is what a scheduler's looks find, with counts of what it did.
type world struct {
	mu      sync.Mutex // of the counts
	waiting ports.Waiting
	err     error // of a look
	looks   int
	rounds  map[string]int
	counted ran
	log     strings.Builder
}

func newWorld(jobs ...string) *world {
	w := &world{rounds: map[string]int{}, counted: ran{}}
	for _, job := range jobs {
		w.counted[job] = map[bool]int{}
	}
	return w
}

// job waits for w.waiting.Mails, or for Refunds.
func (w *world) job(name string, every time.Duration) schedules.Job {
	return schedules.Job{Name: name, Every: every,
		Waits: func(found ports.Waiting) bool {
			return found.Mails && name == "mail" || found.Refunds && name == "refunds"
		},
		Run: func(context.Context) (bool, error) { w.round(name); return false, nil }}
}

func (w *world) round(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rounds[name]++
}

func (w *world) begun(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rounds[name]
}

// Ran implements ports.JobMetrics.
func (w *world) Ran(job string, succeeded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counted.Ran(job, succeeded)
}

// during runs a scheduler for a time.
func (w *world) during(t *testing.T, span time.Duration, jobs ...schedules.Job) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	look := func(context.Context) (ports.Waiting, error) { w.looks++; return w.waiting, w.err }
	go func() {
		done <- schedules.New(slog.New(slog.NewTextHandler(&w.log, nil)), w, look, jobs...).Run(ctx)
	}()
	<-time.After(span)
	synctest.Wait()
	stop()
	require.NoError(t, <-done)
}

func TestRun_OneLookServesAllJobs_AndAJobWithoutWorkMakesNoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("mail", "refunds")
		w.waiting.Mails = true
		w.during(t, 1000*time.Second, w.job("mail", 10*time.Second), w.job("refunds", 10*time.Second))
		require.InDelta(t, 100, w.looks, 25)
		require.Equal(t, map[string]int{"mail": w.looks}, w.rounds)
		require.Equal(t, ran{"mail": {true: w.looks}, "refunds": {true: w.looks}}, w.counted)
	})
}

func TestRun_JobsOfDifferentIntervals_ShareTheLooksOfTheShortest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("mail", "refunds")
		w.waiting.Mails, w.waiting.Refunds = true, true
		w.during(t, 1000*time.Second, w.job("mail", 2*time.Second), w.job("refunds", 10*time.Second))
		require.InDelta(t, 500, w.looks, 100)
		require.Equal(t, w.looks, w.rounds["mail"])
		require.InDelta(t, 100, w.rounds["refunds"], 25)
	})
}

// A query that fails must delay no job: each round finds its own work anyway.
func TestRun_ALookThatFails_HasEveryJobDoItsRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("mail", "refunds")
		w.err = errors.New("no plan")
		w.during(t, 100*time.Second, w.job("mail", 10*time.Second), w.job("refunds", 10*time.Second))
		require.Equal(t, map[string]int{"mail": w.looks, "refunds": w.looks}, w.rounds)
		require.Contains(t, w.log.String(), `msg="look for the work of scheduled jobs failed" error="no plan"`)
	})
}

func TestRun_ALongRound_HoldsUpNoOtherJob_AndIsNotBegunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("mail", "refunds")
		w.waiting.Mails, w.waiting.Refunds = true, true
		slow, under := w.job("mail", 10*time.Second), 0
		slow.Run = func(context.Context) (bool, error) {
			w.round("mail")
			under++
			require.Equal(t, 1, under)
			<-time.After(95 * time.Second)
			under--
			return false, nil
		}
		w.during(t, 1000*time.Second, slow, w.job("refunds", 10*time.Second))
		require.InDelta(t, 10, w.rounds["mail"], 1, "the next look after a round begins another")
		require.Equal(t, w.looks, w.rounds["refunds"])
	})
}

func TestRun_AJobWithRest_WorksAtItsIntervalUntilItIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("mail")
		job := w.job("mail", time.Second/2)
		left := 0
		job.Rest, job.Run = 2*time.Second, func(context.Context) (bool, error) {
			w.round("mail")
			left = max(left-1, 0)
			return left > 0, nil
		}
		w.during(t, time.Minute, job)
		require.Zero(t, w.rounds["mail"])
		require.InDelta(t, 30, w.looks, 7, "a look every two seconds")

		w.waiting.Mails, left = true, 50
		w.during(t, 4*time.Second, job)
		require.Zero(t, left, "a round that asks for the next gets it at once")
		require.Greater(t, w.rounds["mail"], 52, "and further ones at its interval")

		w.rounds["mail"] = 0
		job.Waits = func(ports.Waiting) bool { return w.begun("mail") == 0 }
		w.during(t, time.Minute, job)
		require.InDelta(t, 11, w.rounds["mail"], 2, "for five seconds")
	})
}
