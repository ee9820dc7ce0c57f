// Package schedules runs the dispatcher's jobs at intervals: timers of deposits, payments left in processing,
// mails, replays, and the removal of old rows. Any number of dispatchers may run the same jobs at once; each
// job locks the rows it changes.
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

// Job is work that the dispatcher repeats at an interval.
type Job struct {
	Name  string // The name of the job in the log and the metrics.
	Every time.Duration
	// Rest is the interval at which the scheduler queries whether an idle job with the function Waits has work; 0
	// stands for Every. Once a job with Rest has work, its rounds repeat at Every until it had no work for
	// restAfter.
	Rest time.Duration
	// Soon is for a job whose interval is long. true: the first round begins within seconds, and a failed round
	// is repeated after a minute; false: both wait for the interval.
	Soon bool

	// Waits reports whether the job has work: true starts a round, false counts as a round without work. With
	// nil, every round runs and finds out itself.
	Waits func(ports.WaitingWorkFlags) bool

	// Run makes a round of the job. more is true when the round reached its limit, and the next round shall begin
	// at once; else false.
	Run func(ctx context.Context) (more bool, err error)
}

// The waits of a job whose field Soon is true: the longest wait before its first round, and the wait after a
// failed round.
const (
	soon       = 2 * time.Second
	afterError = time.Minute
)

// restAfter is the time without work after which a job with Rest is checked at the longer interval Rest again.
const restAfter = 5 * time.Second

// jitterShare spreads the rounds of a job by ±20 %, so that several dispatchers do not query at the same
// time.
const jitterShare = 0.2

// Scheduler runs several jobs at the same time, and the rounds of one job one after another.
type Scheduler struct {
	look     WaitingWorkQuery
	jobs     []Job
	log      *slog.Logger
	metrics  ports.JobMetrics
	database *outage.Log // The log of database outages: an outage that several jobs meet is logged once.

	mu sync.Mutex
	// The names of the jobs whose last round failed because of an outage of the database; "" stands for the query
	// for waiting work.
	away map[string]bool
}

// WaitingWorkQuery is a function that queries which kinds of work wait, for the jobs that run only when they have
// work. If it fails, each of these jobs runs its round and finds out itself.
type WaitingWorkQuery func(ctx context.Context) (ports.WaitingWorkFlags, error)

// New returns a Scheduler that runs these jobs, which must have unique names and positive intervals.
func New(log *slog.Logger, metrics ports.JobMetrics, look WaitingWorkQuery, jobs ...Job) *Scheduler {
	return &Scheduler{look: look, jobs: jobs, log: log, metrics: metrics, database: outage.New(log),
		away: map[string]bool{}}
}

func JobNames(jobs []Job) []string {
	names := make([]string, len(jobs))
	for i, job := range jobs {
		names[i] = job.Name
	}
	return names
}

// Run runs the jobs until ctx ends and all rounds have returned, and then returns nil. A job's first round
// begins within one interval, or within seconds for a job with Soon. An error or a panic ends only that
// round.
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

// keep runs the rounds of a job at its interval until ctx ends.
func (s *Scheduler) keep(ctx context.Context, job Job) {
	for wait := upTo(job.first()); sleep(ctx, wait); {
		more, failed := s.round(ctx, job)
		wait = jitter(job.next(more, failed))
	}
}

// first returns the longest wait between the start of the scheduler and the first round of the job.
func (j Job) first() time.Duration {
	if j.Soon {
		return min(j.Every, soon)
	}
	return j.Every
}

// next returns the wait between a round of the job and the next one.
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

// upTo returns a random duration up to d, so that several dispatchers do not begin at the same time.
func upTo(d time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(d)) //nolint:gosec // spreads load, hides nothing
}

// sleep waits, and reports whether the wait passed: true after the wait, false when ctx ended first.
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

// round runs the job once, logs an error or a panic, and counts the round unless the process was told to
// stop.
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
	case toldToStop(ctx, err):
		return false, false
	default:
		s.complain(ctx, job.Name, err, "scheduled job failed", "job", job.Name)
		s.metrics.CountRound(job.Name, false)
		return false, true
	}
}

func toldToStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// complain logs the error of a job's round or of the query for waiting work. An outage of the database is
// logged once, although all jobs meet it.
func (s *Scheduler) complain(ctx context.Context, job string, err error, message string, about ...any) {
	about = append(about, "error", err)
	if errors.Is(err, fault.ErrUnavailable) {
		s.mu.Lock()
		s.away[job] = true
		s.mu.Unlock()
		s.database.RecordFailure(ctx, message, about...)
		return
	}
	s.answered(ctx, job)
	s.log.WarnContext(ctx, message, about...)
}

// answered records that a job has reached the database. An outage counts as over only when every job that failed
// because of it has done so, since a lock may keep a single job from its table.
func (s *Scheduler) answered(ctx context.Context, job string) {
	s.mu.Lock()
	delete(s.away, job)
	over := len(s.away) == 0
	s.mu.Unlock()
	if over {
		s.database.RecordSuccess(ctx)
	}
}
