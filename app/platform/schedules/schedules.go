// Package schedules runs the dispatcher's jobs at intervals. Any number of dispatchers may run the same jobs at
// once; each job locks the rows it changes.
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

type Job struct {
	Name  string
	Every time.Duration
	// Soon reports whether the first round begins within seconds and a failed one is repeated after a minute, for a
	// job with a long interval.
	Soon bool

	// Run makes a round of the job; more reports whether the next round shall begin at once.
	Run func(ctx context.Context) (more bool, err error)
}

// The longest wait before the first round of a job with Soon, and the wait after a failed one.
const (
	soon       = 2 * time.Second
	afterError = time.Minute
)

// jitterShare spreads rounds by ±20 %, so that dispatchers do not query at the same time.
const jitterShare = 0.2

// Scheduler runs jobs at the same time, each job's rounds in turn.
type Scheduler struct {
	jobs     []Job
	log      *slog.Logger
	metrics  ports.JobMetrics
	database *outage.Log // The log of database outages, with one entry for all jobs.

	mu   sync.Mutex
	away map[string]bool // The jobs whose last round failed in a database outage.
}

func New(log *slog.Logger, metrics ports.JobMetrics, jobs ...Job) *Scheduler {
	return &Scheduler{jobs: jobs, log: log, metrics: metrics, database: outage.New(log), away: map[string]bool{}}
}

func JobNames(jobs []Job) []string {
	names := make([]string, len(jobs))
	for i, job := range jobs {
		names[i] = job.Name
	}
	return names
}

// Run runs the jobs until ctx ends and all rounds have returned, and then returns nil. An error or a panic ends
// only its round.
func (s *Scheduler) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, job := range s.jobs {
		all.Go(func() { s.keep(ctx, job) })
	}
	all.Wait()
	return nil
}

func (s *Scheduler) keep(ctx context.Context, job Job) {
	for wait := upTo(job.first()); sleep(ctx, wait); {
		more, failed := s.round(ctx, job)
		wait = jitter(job.next(more, failed))
	}
}

// first returns the longest wait before a job's first round.
func (j Job) first() time.Duration {
	if j.Soon {
		return min(j.Every, soon)
	}
	return j.Every
}

// next returns the wait between a round of a job and the next.
func (j Job) next(more, failed bool) time.Duration {
	switch {
	case more:
		return 0
	case failed && j.Soon:
		return min(j.Every, afterError)
	default:
		return j.Every
	}
}

// upTo returns a random duration up to d, so that dispatchers do not begin together.
func upTo(d time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(d)) //nolint:gosec // spreads load, hides nothing
}

// sleep reports whether the wait passed before ctx ended.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (1 + jitterShare*(2*rand.Float64()-1))) //nolint:gosec // as above
}

// round runs a job once and logs an error or panic; it is not counted if the process was told to stop.
func (s *Scheduler) round(ctx context.Context, job Job) (more, failed bool) {
	defer func() {
		if v := recover(); v != nil {
			s.log.ErrorContext(ctx, "scheduled job panicked", "job", job.Name, "panic", fmt.Sprint(v), "stack",
				string(debug.Stack()))
			s.metrics.CountRound(job.Name, false)
			more, failed = false, true
		}
	}()
	more, err := job.Run(ctx)
	switch {
	case err == nil:
		s.answered(ctx, job.Name)
		s.metrics.CountRound(job.Name, true)
		return more, false
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return false, false
	default:
		s.complain(ctx, job.Name, err)
		s.metrics.CountRound(job.Name, false)
		return false, true
	}
}

// complain logs an error of a job's round; an outage is logged once for all jobs.
func (s *Scheduler) complain(ctx context.Context, job string, err error) {
	const message = "scheduled job failed"
	if errors.Is(err, fault.ErrUnavailable) {
		s.mu.Lock()
		s.away[job] = true
		s.mu.Unlock()
		s.database.RecordFailure(ctx, message, "job", job, "error", err)
		return
	}
	s.answered(ctx, job)
	s.log.WarnContext(ctx, message, "job", job, "error", err)
}

// answered records that a job has reached the database. An outage is over when every failed job has, since a lock
// may keep one from its table.
func (s *Scheduler) answered(ctx context.Context, job string) {
	s.mu.Lock()
	delete(s.away, job)
	over := len(s.away) == 0
	s.mu.Unlock()
	if over {
		s.database.RecordSuccess(ctx)
	}
}
