package wire

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"partnerdeposits/adapters/http/ops"
	"partnerdeposits/process/config"
)

// askPatience is the longest wait for a /readyz, whose checks take 2 s at most.
const askPatience = 4 * time.Second

// ProcessState is a process's state by its /readyz. If Err is set, only URL is known.
type ProcessState struct {
	URL    string
	Err    error  // Why no process of this service answered at the URL; nil if one did.
	Status string // The status of the process: ready, degraded, not_ready or stopping.
	// Whether the process is ready without restriction, or is stopping as requested.
	Well   bool
	Checks []HealthCheckState
}

type HealthCheckState struct {
	Name, Problem string // The name of the check, and its problem; "": the check passes.
	// Whether the ages of the check's last result (Aged) and last success (Passed) are known.
	Aged, Passed    bool
	Answer, Success time.Duration
}

// askProcesses queries the /readyz of the processes at the URLs, all at the same time. Without URLs it queries
// METRICS_ADDR of this machine, where there may be none.
func askProcesses(ctx context.Context, cfg config.Config, urls []string) []ProcessState {
	if len(urls) == 0 {
		here := ask(ctx, cfg.LocalMetricsURL())
		if here.Err != nil {
			return nil
		}
		return []ProcessState{here}
	}
	asked := make([]ProcessState, len(urls))
	var all sync.WaitGroup
	for i, url := range urls {
		all.Go(func() { asked[i] = ask(ctx, url) })
	}
	all.Wait()
	return asked
}

func ask(ctx context.Context, url string) ProcessState {
	client := &http.Client{Timeout: askPatience, Transport: &http.Transport{DisableKeepAlives: true}}
	state, err := ops.QueryReadiness(ctx, client, url)
	if err != nil {
		return ProcessState{URL: url, Err: err}
	}
	p := ProcessState{URL: url, Status: state.Status,
		Well: state.Status == ops.StatusReady || state.Status == ops.StatusStopping}
	for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
		check, age := HealthCheckState{Name: name, Problem: state.Checks[name]}, state.Ages[name]
		if check.Problem == ops.CheckResultPassed {
			check.Problem = ""
		}
		check.Answer, check.Aged = duration(age.Answer)
		check.Success, check.Passed = duration(age.Success)
		p.Checks = append(p.Checks, check)
	}
	return p
}

// Healthcheck queries the process at METRICS_ADDR of this machine whether it is ready. It reads no other setting,
// since a health check may run without the secrets of the process.
//
// Returns the state, such as "degraded: redis cannot be reached", or an error with the reason.
func Healthcheck(ctx context.Context, environ []string) (state string, err error) {
	others := func(pair string) bool { return !strings.HasPrefix(pair, "METRICS_ADDR=") }
	cfg, err := config.Load(slices.DeleteFunc(slices.Clone(environ), others), config.NothingRequired)
	if err != nil {
		return "", err
	}
	p := ask(ctx, cfg.LocalMetricsURL())
	if p.Err != nil {
		return "", p.Err
	}
	state = p.Status
	var problems []string
	for _, check := range p.Checks {
		if check.Problem != "" {
			problems = append(problems, check.Name+" "+check.Problem)
		}
	}
	if len(problems) > 0 {
		state += ": " + strings.Join(problems, ", ")
	}
	if !(ops.ReadinessStatus{Status: p.Status}).OK() {
		return "", errors.New(state)
	}
	return state, nil
}

func duration(seconds *float64) (d time.Duration, known bool) {
	if seconds == nil {
		return 0, false
	}
	return time.Duration(*seconds * float64(time.Second)), true
}
