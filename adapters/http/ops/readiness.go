// Package ops serves what operators and orchestrators ask a process, on METRICS_ADDR, away from the public: /livez,
// /readyz and /metrics (operations.md, "Processes").
package ops

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"
)

// Check tells whether the process can use something outside it.
type Check struct {
	Name string

	// Run returns nil, or what is wrong. For the log it may carry a cause; Problem is what /readyz says.
	Run func(ctx context.Context) error

	// Problem says what is wrong in words fit for anybody, without names of hosts: "cannot be reached".
	Problem func(err error) string

	// Spare is true for what the process can go on without once it has seen it. Until then it is not ready.
	Spare bool
}

// Spans of looking.
const (
	checkTimeout  = 2 * time.Second
	freshFor      = time.Second // between two looks, however often somebody asks
	watchEvery    = 5 * time.Second
	firstRetry    = 250 * time.Millisecond
	longestRetry  = 10 * time.Second
	jitterPercent = 20
)

// Readiness knows whether the process can do its work. It goes on looking for what is missing.
type Readiness struct {
	checks []Check
	log    *slog.Logger

	look     sync.Mutex // one look at a time
	mu       sync.Mutex
	seen     map[string]bool   // found at least once
	problems map[string]string // as of the last look
	lookedAt time.Time
	draining bool
}

// NewReadiness makes the readiness of a process. Nothing is ready before the first look.
func NewReadiness(log *slog.Logger, checks ...Check) *Readiness {
	r := &Readiness{checks: checks, log: log, seen: map[string]bool{}, problems: map[string]string{}}
	for _, c := range checks {
		r.problems[c.Name] = "not looked at yet"
	}
	return r
}

// Drain makes the process not ready, for good: it is about to stop.
func (r *Readiness) Drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
}

// Status is what /readyz answers.
type Status struct {
	Status string            `json:"status"` // ready · degraded · not_ready · stopping
	Checks map[string]string `json:"checks"` // ok, or what is wrong
}

// The states of a process. A degraded one is ready: it can go on without what is missing.
const (
	Ready    = "ready"
	Degraded = "degraded"
	NotReady = "not_ready"
	Stopping = "stopping"
)

// OK reports whether the process wants work.
func (s Status) OK() bool { return s.Status == Ready || s.Status == Degraded }

// Now looks, unless somebody just did, and tells.
func (r *Readiness) Now(ctx context.Context) Status {
	r.look.Lock()
	defer r.look.Unlock()
	r.mu.Lock()
	fresh := !r.lookedAt.IsZero() && time.Since(r.lookedAt) < freshFor
	r.mu.Unlock()
	if !fresh {
		r.lookAround(ctx)
	}
	return r.status()
}

func (r *Readiness) status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Status{Status: Ready, Checks: map[string]string{}}
	for _, c := range r.checks {
		problem := r.problems[c.Name]
		switch {
		case problem == "":
			s.Checks[c.Name] = "ok"
			continue
		case c.Spare && r.seen[c.Name]:
			if s.Status == Ready {
				s.Status = Degraded
			}
		default:
			s.Status = NotReady
		}
		s.Checks[c.Name] = problem
	}
	if r.draining {
		s.Status = Stopping
	}
	return s
}

// lookAround runs all checks at once and logs what changed.
func (r *Readiness) lookAround(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	errs := make([]error, len(r.checks))
	var all sync.WaitGroup
	for i, c := range r.checks {
		all.Go(func() { errs[i] = c.Run(ctx) })
	}
	all.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookedAt = time.Now()
	for i, c := range r.checks {
		r.note(ctx, c, errs[i])
	}
}

func (r *Readiness) note(ctx context.Context, c Check, err error) {
	before := r.problems[c.Name]
	problem := ""
	if err != nil {
		problem = c.Problem(err)
	}
	r.problems[c.Name] = problem
	switch {
	case problem == before:
	case problem == "":
		r.seen[c.Name] = true
		r.log.InfoContext(ctx, "found: "+c.Name)
	default:
		r.log.WarnContext(ctx, "missing: "+c.Name+" "+problem+"; trying again until it is there", "cause", err)
	}
}

// Watch looks again and again until ctx ends: soon, and then less and less often, while something is missing.
func (r *Readiness) Watch(ctx context.Context) error {
	retry := firstRetry
	for {
		wait := watchEvery
		if s := r.Now(ctx); s.Status != Ready {
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

// Await returns once nothing that the process needs is missing.
//
// Returns the context's error.
func (r *Readiness) Await(ctx context.Context, names ...string) error {
	for retry := firstRetry; ; retry = min(2*retry, longestRetry) {
		s := r.Now(ctx)
		missing := maps.Clone(s.Checks)
		maps.DeleteFunc(missing, func(_, state string) bool { return state == "ok" })
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
