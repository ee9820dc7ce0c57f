// Package schedules runs the dispatcher's jobs at intervals: timers of deposits, payments left in processing, mails, replays,
// and the removal of old rows. Any number of dispatchers may run the same jobs at once; each job locks the rows it changes.
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
	"partnerdeposits/ports/outage"
)

// Job is work that is repeated at an interval.
type Job struct {
	Name  string // for the log
	Every time.Duration

	// Run does a round. more asks for the next round at once, since the round reached its limit.
	Run func(ctx context.Context) (more bool, err error)
}

// jitterShare spreads the rounds by ±20 %, so that several dispatchers do not query at the same time.
const jitterShare = 0.2

// Scheduler runs jobs concurrently, and the rounds of each job one after another.
type Scheduler struct {
	jobs     []Job
	log      *slog.Logger
	database *outage.Log // whose outage all jobs meet
}

// New makes a scheduler. The names of jobs are unique and their intervals positive.
func New(log *slog.Logger, jobs ...Job) *Scheduler {
	return &Scheduler{jobs: jobs, log: log, database: outage.New(log)}
}

// Run runs until ctx ends and all rounds have returned; then Run returns nil. A job's first round begins within one interval.
// An error or a panic ends only that round.
func (s *Scheduler) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, job := range s.jobs {
		all.Go(func() { s.keep(ctx, job) })
	}
	all.Wait()
	return nil
}

func (s *Scheduler) keep(ctx context.Context, job Job) {
	wait := time.Duration(rand.Float64() * float64(job.Every)) //nolint:gosec // spreads load, hides nothing
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if more := s.round(ctx, job); more {
			wait = 0
			continue
		}
		wait = jitter(job.Every)
	}
}

func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + jitterShare*(2*rand.Float64()-1))) //nolint:gosec // as above
}

// round runs the job once and logs an error or a panic.
func (s *Scheduler) round(ctx context.Context, job Job) (more bool) {
	defer func() {
		if v := recover(); v != nil {
			s.log.ErrorContext(ctx, "scheduled job panicked", "job", job.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			more = false
		}
	}()
	more, err := job.Run(ctx)
	switch {
	case err == nil:
		s.database.Worked(ctx)
		return more
	case ctx.Err() != nil && errors.Is(err, context.Canceled): // told to stop
	case errors.Is(err, fault.ErrUnavailable):
		s.database.Failed(ctx, "scheduled job failed", "job", job.Name, "error", err)
	default:
		s.log.WarnContext(ctx, "scheduled job failed", "job", job.Name, "error", err)
	}
	return false
}
