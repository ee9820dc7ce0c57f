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

// askPatience is the longest wait for a process: its checks take 2 s at most.
const askPatience = 4 * time.Second

// AskedProcess is a running process as its own /readyz describes it. With Err, only URL is known.
type AskedProcess struct {
	URL    string // of METRICS_ADDR
	Err    error  // no process of this service answers
	Status string // ready, degraded, not_ready or stopping
	Well   bool   // nothing is missing, or the process stops, as it was told
	Checks []AskedCheck
}

// AskedCheck is a check of a process.
type AskedCheck struct {
	Name, Problem   string // Problem "": passes
	Aged, Passed    bool   // whether Answer is known, and whether Success is
	Answer, Success time.Duration
}

// askProcesses reads the /readyz of the processes at urls, all at the same time. Without urls it asks at METRICS_ADDR
// of this machine, where nothing needs to run.
func askProcesses(ctx context.Context, cfg config.Config, urls []string) []AskedProcess {
	if len(urls) == 0 {
		here := ask(ctx, cfg.LocalMetricsURL())
		if here.Err != nil {
			return nil
		}
		return []AskedProcess{here}
	}
	asked := make([]AskedProcess, len(urls))
	var all sync.WaitGroup
	for i, url := range urls {
		all.Go(func() { asked[i] = ask(ctx, url) })
	}
	all.Wait()
	return asked
}

func ask(ctx context.Context, url string) AskedProcess {
	client := &http.Client{Timeout: askPatience, Transport: &http.Transport{DisableKeepAlives: true}} // without a proxy
	state, err := ops.Ask(ctx, client, url)
	if err != nil {
		return AskedProcess{URL: url, Err: err}
	}
	p := AskedProcess{URL: url, Status: state.Status, Well: state.Status == ops.Ready || state.Status == ops.Stopping}
	for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
		check, age := AskedCheck{Name: name, Problem: state.Checks[name]}, state.Ages[name]
		if check.Problem == ops.Passes {
			check.Problem = ""
		}
		check.Answer, check.Aged = duration(age.Answer)
		check.Success, check.Passed = duration(age.Success)
		p.Checks = append(p.Checks, check)
	}
	return p
}

// Healthcheck asks the process at METRICS_ADDR of this machine whether it takes work. No other setting is read: a probe
// may run where the secrets of the process are not at hand.
//
// Returns the state, such as "degraded: redis cannot be reached", or an error with the reason.
func Healthcheck(ctx context.Context, environ []string) (state string, err error) {
	others := func(pair string) bool { return !strings.HasPrefix(pair, "METRICS_ADDR=") }
	cfg, err := config.Load(slices.DeleteFunc(slices.Clone(environ), others), config.Nothing)
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
	if !(ops.Status{Status: p.Status}).OK() {
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
