// Package ops serves /livez, /readyz and /metrics to operations staff and orchestrators, on METRICS_ADDR, apart
// from the public listener (operations.md, "Processes").
package ops

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"partnerdeposits/ports/platform/outage"
)

// ReadinessCheck tests whether an outside dependency, such as a database, is available.
type ReadinessCheck struct {
	Name string

	// Run tests the dependency. The log shows its whole error, /readyz only Problem.
	Run func(ctx context.Context) error

	// Problem describes a failure without host names, since anybody may read it: "cannot be reached".
	Problem func(err error) string

	// Every is how long a result is reused; 0 means one second. Holds is how long a success is reused, if longer.
	Every, Holds time.Duration

	// Whether a failure after the first success only degrades the process, which stays ready.
	Optional bool
	// Whether a failure, even before the first success, only degrades the process.
	Advisory bool
}

const (
	checkTimeout = 2 * time.Second
	// Time for which readiness results are reused, however many requests arrive.
	freshFor      = time.Second
	watchEvery    = 5 * time.Second
	firstRetry    = 250 * time.Millisecond
	longestRetry  = 10 * time.Second
	jitterPercent = 20
)

const unknown = "not looked at yet"

// Readiness runs the readiness checks, reports whether the process is ready, and retries failed checks.
type Readiness struct {
	checks []ReadinessCheck
	log    *slog.Logger

	// Held during a run of the readiness checks, so that only one runs at a time.
	running sync.Mutex
	mu      sync.Mutex
	// Time of each readiness check's last success; no entry before the first.
	passed   map[string]time.Time
	answered map[string]time.Time
	// Problem that each readiness check last found; "" for a success.
	problems  map[string]string
	outages   map[string]*outage.Log
	checkedAt time.Time

	draining atomic.Bool
}

// NewReadiness returns the readiness of a process with the given checks; not ready before their first run.
func NewReadiness(log *slog.Logger, checks ...ReadinessCheck) *Readiness {
	r := &Readiness{
		checks: checks, log: log, passed: map[string]time.Time{}, answered: map[string]time.Time{},
		problems: map[string]string{},
		outages:  map[string]*outage.Log{},
	}
	for _, c := range checks {
		r.problems[c.Name] = unknown
	}
	return r
}

// StartDraining makes the process not ready for good, because it is about to stop.
func (r *Readiness) StartDraining() { r.draining.Store(true) }

// Draining reports whether StartDraining was called: the process is about to stop.
func (r *Readiness) Draining() bool { return r.draining.Load() }

type ReadinessStatus struct {
	Status string `json:"status"`
	// Result of each readiness check: "ok" or the problem.
	Checks map[string]string            `json:"checks"`
	Ages   map[string]ReadinessCheckAge `json:"ages,omitempty"`
}

// ReadinessCheckAge holds how many seconds ago a check last ended and succeeded; nil for never.
type ReadinessCheckAge struct {
	Answer  *float64 `json:"answerSeconds"`
	Success *float64 `json:"successSeconds"`
}

// States of a process in /readyz. A degraded process is ready: only optional dependencies are missing.
const (
	StatusReady    = "ready"
	StatusDegraded = "degraded"
	StatusNotReady = "not_ready"
	StatusStopping = "stopping"
)

// CheckResultPassed is the result of a successful check in /readyz.
const CheckResultPassed = "ok"

// OK reports whether the process should receive work: it is ready or degraded.
func (s ReadinessStatus) OK() bool { return s.Status == StatusReady || s.Status == StatusDegraded }

// CurrentStatus returns the readiness of the process. It runs the checks unless the last run is younger than a
// second.
func (r *Readiness) CurrentStatus(ctx context.Context) ReadinessStatus {
	r.running.Lock()
	defer r.running.Unlock()
	r.mu.Lock()
	fresh := !r.checkedAt.IsZero() && time.Since(r.checkedAt) < freshFor
	r.mu.Unlock()
	if !fresh {
		r.runChecks(ctx)
	}
	return r.status()
}

// WholeProcessCheckName is the key in CheckResults of whether the whole process is ready.
const WholeProcessCheckName = "process"

// CheckResults reports by name whether each check succeeded last, and for WholeProcessCheckName whether the
// process is ready. It runs no checks.
func (r *Readiness) CheckResults() map[string]bool {
	status := r.status()
	passing := map[string]bool{WholeProcessCheckName: status.OK()}
	for name, state := range status.Checks {
		passing[name] = state == CheckResultPassed
	}
	return passing
}

func (r *Readiness) status() ReadinessStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := ReadinessStatus{Status: StatusReady, Checks: map[string]string{}, Ages: map[string]ReadinessCheckAge{}}
	for _, c := range r.checks {
		s.Ages[c.Name] = ReadinessCheckAge{Answer: secondsSince(r.answered, c.Name), Success: secondsSince(r.passed, c.Name)}
		problem := r.problems[c.Name]
		switch {
		case problem == "":
			s.Checks[c.Name] = CheckResultPassed
			continue
		case c.Advisory && problem != unknown, c.Optional && s.Ages[c.Name].Success != nil:
			if s.Status == StatusReady {
				s.Status = StatusDegraded
			}
		default:
			s.Status = StatusNotReady
		}
		s.Checks[c.Name] = problem
	}
	if r.Draining() {
		s.Status = StatusStopping
	}
	return s
}

func secondsSince(times map[string]time.Time, check string) *float64 {
	at, known := times[check]
	if !known {
		return nil
	}
	seconds := max(time.Since(at), 0).Round(time.Millisecond).Seconds()
	return &seconds
}

// runChecks runs, in parallel, readiness checks whose last result is too old, and logs the beginning and end of
// outages.
func (r *Readiness) runChecks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	errs, ends := make([]error, len(r.checks)), make([]time.Time, len(r.checks))
	var all sync.WaitGroup
	due := r.due()
	for i, c := range r.checks {
		if due[i] {
			all.Go(func() { errs[i], ends[i] = c.Run(ctx), time.Now() })
		}
	}
	all.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkedAt = time.Now()
	for i, c := range r.checks {
		if due[i] {
			r.answered[c.Name] = ends[i]
			r.record(ctx, c, errs[i])
		}
	}
}

// due reports for each readiness check whether its last result is too old.
func (r *Readiness) due() []bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	due := make([]bool, len(r.checks))
	for i, c := range r.checks {
		at, answered := r.answered[c.Name]
		keep := c.Every
		if r.problems[c.Name] == "" {
			keep = max(keep, c.Holds)
		}
		due[i] = !answered || time.Since(at) >= keep
	}
	return due
}

func (r *Readiness) record(ctx context.Context, c ReadinessCheck, err error) {
	before, problem := r.problems[c.Name], ""
	if err != nil {
		problem = c.Problem(err)
	}
	r.problems[c.Name] = problem
	switch {
	case problem != "":
		if problem != before {
			// Log a problem at once if it differs from the check's last one.
			r.outages[c.Name] = outage.New(r.log)
		}
		r.outages[c.Name].RecordFailure(ctx, "missing: "+c.Name+" "+problem+"; trying again until it is there", "cause", err)
		return
	case before == unknown:
		r.log.InfoContext(ctx, "found: "+c.Name)
	case before != "":
		r.outages[c.Name].EndOutage(ctx, "found: "+c.Name)
	}
	r.passed[c.Name] = r.answered[c.Name]
}

// RunChecks runs the readiness checks every five seconds until ctx ends, with growing delays while one fails.
func (r *Readiness) RunChecks(ctx context.Context) error {
	retry := firstRetry
	for {
		wait := watchEvery
		if s := r.CurrentStatus(ctx); s.Status != StatusReady {
			wait = jitter(retry)
			retry = min(2*retry, longestRetry)
		} else {
			retry = firstRetry
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// AwaitChecks waits until the named readiness checks have succeeded. Returns the context's error.
func (r *Readiness) AwaitChecks(ctx context.Context, names ...string) error {
	for retry := firstRetry; ; retry = min(2*retry, longestRetry) {
		s := r.CurrentStatus(ctx)
		missing := maps.Clone(s.Checks)
		maps.DeleteFunc(missing, func(_, state string) bool { return state == CheckResultPassed })
		if !anyOf(missing, names) {
			return nil
		}
		timer := time.NewTimer(jitter(min(retry, freshFor)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

func anyOf(missing map[string]string, names []string) bool {
	for _, n := range names {
		if _, there := missing[n]; there {
			return true
		}
	}
	return false
}

func jitter(d time.Duration) time.Duration {
	spread := int64(d) * jitterPercent / 100
	return d + time.Duration(rand.Int64N(2*spread+1)-spread) //nolint:gosec // spreads load, hides nothing
}
