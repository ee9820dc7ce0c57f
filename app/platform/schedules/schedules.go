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
	// Rest is the interval of looks for the work of a job with Waits; 0: Every. A job with Rest goes on at Every until it
	// had no work for restAfter.
	Rest time.Duration
	// Soon begins the first round within seconds, and repeats a failed round after a minute, for a job whose interval
	// is long.
	Soon bool

	// Waits tells whether the job has work; nil: each round finds out. A look without work counts as a round.
	Waits func(ports.Waiting) bool

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
	look     Look
	jobs     []Job
	log      *slog.Logger
	metrics  ports.JobMetrics
	database *outage.Log // whose outage all jobs meet

	mu   sync.Mutex
	away map[string]bool // jobs whose last round met the outage; the look has the name ""
}

// Look tells what waits for the jobs with Waits. If a look fails, each of them does its round and finds out.
type Look func(ctx context.Context) (ports.Waiting, error)

// New makes a scheduler. The names of jobs are unique and their intervals positive.
func New(log *slog.Logger, metrics ports.JobMetrics, look Look, jobs ...Job) *Scheduler {
	return &Scheduler{look: look, jobs: jobs, log: log, metrics: metrics, database: outage.New(log),
		away: map[string]bool{}}
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
	var awaited []start
	for _, job := range s.jobs {
		if job.Waits == nil {
			all.Go(func() { s.keep(ctx, job) })
			continue
		}
		begin := make(chan struct{})
		awaited = append(awaited, start{Job: job, begin: begin})
		all.Go(func() { s.await(ctx, job, begin) })
	}
	if len(awaited) > 0 {
		s.watch(ctx, awaited)
	}
	all.Wait()
	return nil
}

// keep runs a job at its interval.
func (s *Scheduler) keep(ctx context.Context, job Job) {
	for wait := upTo(job.first()); sleep(ctx, wait); {
		more, failed := s.round(ctx, job)
		wait = jitter(job.next(more, failed))
	}
}

// first is the longest wait before the first round.
func (j Job) first() time.Duration {
	if j.Soon {
		return min(j.Every, soon)
	}
	return j.Every
}

// next gives the wait after a round.
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

// upTo spreads the beginnings of several dispatchers.
func upTo(d time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(d)) //nolint:gosec // spreads load, hides nothing
}

// sleep returns false when ctx ended.
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
		s.answered(ctx, job.Name)
		s.metrics.Ran(job.Name, true)
		return more, false
	case toldToStop(ctx, err):
		return false, false
	default:
		s.complain(ctx, job.Name, err, "scheduled job failed", "job", job.Name)
		s.metrics.Ran(job.Name, false)
		return false, true
	}
}

func toldToStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// complain logs the error of a round or of a look. An outage of the database is logged once, although all jobs meet it.
func (s *Scheduler) complain(ctx context.Context, job string, err error, message string, about ...any) {
	about = append(about, "error", err)
	if errors.Is(err, fault.ErrUnavailable) {
		s.mu.Lock()
		s.away[job] = true
		s.mu.Unlock()
		s.database.Failed(ctx, message, about...)
		return
	}
	s.answered(ctx, job)
	s.log.WarnContext(ctx, message, about...)
}

// answered ends the outage once every job that met it had an answer: a lock may keep a single job from its table.
func (s *Scheduler) answered(ctx context.Context, job string) {
	s.mu.Lock()
	delete(s.away, job)
	over := len(s.away) == 0
	s.mu.Unlock()
	if over {
		s.database.Worked(ctx)
	}
}
