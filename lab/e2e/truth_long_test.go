//go:build long

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// truth is a fault of the machine, and how the service has to tell of it.
type truth struct {
	fault string
	of    watchedOf
	begin func(x *watched) (end func())

	alert          string                // that tells of the fault
	summary        string                // a part of its text, which names the cause
	book           string                // a part of its runbook, which names the cause
	also           []string              // alerts that may fire beside it, since they are true
	ready          string                // a part of a /readyz; "": none tells, as for a fault of a single row
	doctor         string                // a part of what the doctor finds; "": nothing
	shows          func(x *watched) bool // whether the first row of the first dashboard shows the fault
	within, clears time.Duration         // longer than toldWithin and clearsWithin
}

// Times of a fault. The alert is told within toldWithin, and what follows from the fault has the rest of lasts to be
// told.
const (
	beforeFault  = 75 * time.Second
	toldWithin   = 2 * time.Minute
	lasts        = 150 * time.Second
	clearsWithin = 6 * time.Minute
	atOnceTruth  = 7 // installations that run beside each other: they mostly wait
)

// TestLong_Truth injects each fault into an installation of its own under load, with the rules, scrapes and
// configuration of Prometheus and Alertmanager as they are deployed.
func TestLong_Truth(t *testing.T) {
	var table sync.Map
	slots := make(chan struct{}, atOnceTruth)
	var running sync.WaitGroup
	all := truths(t)
	for _, f := range all {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(f.fault, func(t *testing.T) { table.Store(f.fault, f.tell(t)) })
		})
	}
	running.Wait()
	told := 0
	for _, f := range all {
		if row, ran := table.Load(f.fault); ran {
			told++
			t.Log(row)
		}
	}
	t.Logf("figure: %d faults were told truly", told)
}

func (f truth) tell(t *testing.T) (row string) {
	f.of.scrapes, f.of.pager = scrapeInterval, func(config string) string { return config }
	x := newWatched(t, f.of)
	under := x.loadOf(x.account, 5, cancelled)
	passes(t, beforeFault)
	require.Empty(t, x.pager.since(time.Time{}), "before the fault")
	require.False(t, f.shows(x), "before the fault")

	begun := time.Now()
	end := f.begin(x)
	x.pager.await(t, "firing", max(toldWithin, f.within)-time.Since(begun), f.alert)
	told := time.Since(begun)
	x.pager.names(t, f)
	require.Eventually(t, func() bool { return f.shows(x) }, lasts, time.Second, "the first row")
	if f.ready != "" {
		require.Eventually(t, func() bool { return strings.Contains(x.readiness(), f.ready) }, soon, often, "%s: %s", f.ready,
			lazy(x.readiness))
	}
	if f.doctor != "" {
		code, stdout, stderr := run(t, x.environ, "admin", append([]string{"doctor"}, x.processFlags()...)...)
		require.Equal(t, 1, code, stdout+stderr)
		require.Contains(t, stdout, f.doctor)
	}
	passes(t, lasts-time.Since(begun))
	fired := x.pager.since(begun)
	require.Subset(t, append([]string{f.alert}, f.also...), fired, "no wrong alert")

	ended := time.Now()
	end()
	passes(t, 10*time.Second) // changes after the fault
	done, failures, _ := under.end()
	require.Eventually(t, func() bool { return !f.shows(x) && x.prometheus.quiet(t, f.alert) },
		max(clearsWithin, f.clears), time.Second,
		"the fault is over")
	healed := time.Since(ended)
	lost := x.lost(done)
	require.Empty(t, lost, "events of changes that were acknowledged")
	return fmt.Sprintf("figure: %-46s %s after %3.0f s; also %v; %d changes, %d refused, 0 lost; over after %3.0f s",
		f.fault, f.alert, told.Seconds(), slices.DeleteFunc(fired, func(a string) bool { return a == f.alert }), len(done),
		len(failures), healed.Seconds())
}

// lost lists the deposits that were cancelled and of whose end the receiver did not hear within some minutes.
func (x *watched) lost(done []string) (missing []string) {
	deadline := time.Now().Add(5 * time.Minute)
	for {
		heard := map[string]bool{}
		for _, webhook := range x.receiver.Accepted() {
			heard[payloadOf(x.t, webhook).Data.ID] = true
		}
		missing = slices.DeleteFunc(slices.Clone(done), func(id string) bool { return heard[id] })
		if len(missing) == 0 || time.Now().After(deadline) {
			return missing
		}
		passes(x.t, time.Second)
	}
}

// processes are the processes that run.
func (x *watched) processes() (all []*member) {
	for _, m := range []*member{x.http, x.secondHTTP, x.dispatch, x.second} {
		if m != nil {
			all = append(all, m)
		}
	}
	return all
}

// readiness is what every /readyz says.
func (x *watched) readiness() string {
	var said []string
	for _, m := range x.processes() {
		_, body := fetch("http://" + m.ops + "/readyz")
		said = append(said, body)
	}
	return strings.Join(said, "\n")
}

func (x *watched) processFlags() (flags []string) {
	for _, m := range x.processes() {
		flags = append(flags, "--process", "http://"+m.ops)
	}
	return flags
}

// names requires that the text and the runbook of the fault's alert name the cause.
func (p *pager) names(t *testing.T, f truth) {
	t.Helper()
	p.mu.Lock()
	summary, url := p.summary[f.alert], p.runbook[f.alert]
	p.mu.Unlock()
	require.Contains(t, summary, f.summary)
	_, page, _ := strings.Cut(url, "/docs/")
	require.Contains(t, strings.Join(strings.Fields(docstest.ReadFile(t, "docs/"+page)), " "), f.book)
}

// since lists the alerts that were told since then. A busy machine may answer slowly, which none of the faults causes.
func (p *pager) since(then time.Time) (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, first := range p.first {
		if first.After(then) && p.sev[name] != "heartbeat" && name != "ApiSlowFast" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// quiet reports whether the alert neither fires nor is about to.
func (p prometheus) quiet(t *testing.T, alert string) bool {
	now := time.Now()
	return len(p.evaluate(t, fmt.Sprintf(`ALERTS{alertname=%q}`, alert),
		shownSpan{from: now.Add(-time.Second), to: now, step: time.Second})) == 0
}
