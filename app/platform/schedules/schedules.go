// Package schedules runs the dispatcher's jobs at intervals: timers of deposits, payments left in processing, mails,
// replays, and the removal of old rows. Any number of dispatchers may run the same jobs at once; each job locks the
// rows it changes.
package schedules

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"partnerdeposits/core/fault"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/ports/platform/outage"
)

// Job is work that is repeated at an interval.
type Job struct {
	Name  string // for the log and the metrics
	Every time.Duration
	// Rest is the interval after restAfter without a round that asked for the next; 0: Every.
	Rest time.Duration
	// Soon begins the first round within seconds, and repeats a failed round after a minute, for a job whose interval
	// is long.
	Soon bool

	// Run does a round. more asks for the next round at once, since the round reached its limit.
	Run func(ctx context.Context) (more bool, err error)
}

// Waits of a job with Soon: the longest before its first round, and the one after a failed round.
const (
	soon       = 2 * time.Second
	afterError = time.Minute
)

// restAfter is how long a job with Rest keeps its interval after it had work.
const restAfter = 5 * time.Second

// jitterShare spreads the rounds by ±20 %, so that several dispatchers do not query at the same time.
const jitterShare = 0.2

// Scheduler runs jobs concurrently, and the rounds of each job one after another.
type Scheduler struct {
	jobs     []Job
	log      *slog.Logger
	metrics  ports.JobMetrics
	database *outage.Log // whose outage all jobs meet
}

// New makes a scheduler. The names of jobs are unique and their intervals positive.
func New(log *slog.Logger, metrics ports.JobMetrics, jobs ...Job) *Scheduler {
	return &Scheduler{jobs: jobs, log: log, metrics: metrics, database: outage.New(log)}
}

// Names lists the names of jobs.
func Names(jobs []Job) []string {
	names := make([]string, len(jobs))
	for i, job := range jobs {
		names[i] = job.Name
	}
	return names
}

// Run runs until ctx ends and all rounds have returned; then Run returns nil. A job's first round begins within one
// interval, or soon. An error or a panic ends only that round.
func (s *Scheduler) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, job := range s.jobs {
		all.Go(func() { s.keep(ctx, job) })
	}
	all.Wait()
	return nil
}

func (s *Scheduler) keep(ctx context.Context, job Job) {
	wait := time.Duration(rand.Float64() * float64(job.first())) //nolint:gosec // spreads load, hides nothing
	var idle time.Duration                                       // about the time without work
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		more, failed := s.round(ctx, job)
		wait, idle = job.next(more, failed, idle)
		wait = jitter(wait)
	}
}

// first is the longest wait before the first round.
func (j Job) first() time.Duration {
	if j.Soon {
		return min(j.Every, soon)
	}
	return j.Every
}

// next gives the wait after a round, and about the time without work. idle is that time before the round.
func (j Job) next(more, failed bool, idle time.Duration) (wait, idles time.Duration) {
	switch {
	case more:
		return 0, 0
	case failed && j.Soon:
		return min(j.Every, afterError), idle
	case j.Rest > 0 && idle >= restAfter:
		return j.Rest, idle
	default:
		return j.Every, idle + j.Every
	}
}

func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + jitterShare*(2*rand.Float64()-1))) //nolint:gosec // as above
}

// round runs the job once, logs an error or a panic, and counts the round unless the process was told to stop.
func (s *Scheduler) round(ctx context.Context, job Job) (more, failed bool) {
	defer func() {
		if v := recover(); v != nil {
			s.log.ErrorContext(ctx, "scheduled job panicked", "job", job.Name, "panic", fmt.Sprint(v), "stack",
				string(debug.Stack()))
			s.metrics.Ran(job.Name, false)
			more, failed = false, true
		}
	}()
	more, err := job.Run(ctx)
	switch {
	case err == nil:
		s.database.Worked(ctx)
		s.metrics.Ran(job.Name, true)
		return more, false
	case ctx.Err() != nil && errors.Is(err, context.Canceled): // told to stop
		return false, false
	case errors.Is(err, fault.ErrUnavailable):
		s.database.Failed(ctx, "scheduled job failed", "job", job.Name, "error", err)
	default:
		s.log.WarnContext(ctx, "scheduled job failed", "job", job.Name, "error", err)
	}
	s.metrics.Ran(job.Name, false)
	return false, true
}
