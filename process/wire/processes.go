package wire

import (
	"context"
	"maps"
	"net/http"
	"slices"
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

func duration(seconds *float64) (d time.Duration, known bool) {
	if seconds == nil {
		return 0, false
	}
	return time.Duration(*seconds * float64(time.Second)), true
}
