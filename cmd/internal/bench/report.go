package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// results are the figures of the steps that ran; nil for the other steps.
type results struct {
	floors     *floors
	throughput *throughput
	latency    *latency
	isolation  *isolation
	hostility  *hostility
	backlogs   []backlog

	dispatcherMB, redisMB int // highest peak of any dispatcher, and of Redis
}

// peak records and gives the memory of the running dispatcher and of Redis.
func (r *results) peak(w *world) string {
	dispatcher, redis := peakMB(w.dispatcher.Pid()), peakMB(w.services.Redis.Pid())
	r.dispatcherMB, r.redisMB = max(r.dispatcherMB, dispatcher), max(r.redisMB, redis)
	return fmt.Sprintf("dispatcher %d MB, redis %d MB", dispatcher, redis)
}

// line compares a target with the measured figure.
type line struct {
	target, measured string
	holds            bool
}

// Targets of the service. docs/guides/benchmark.md describes each measurement.
const (
	wantRate, aimRate         = 3000, 4000
	wantOfFloor               = 0.35
	wantCPU, aimCPU           = 0.5, 0.4
	wantP50, wantP99          = 15, 40 // ms
	wantTail, wantShare       = 1.2, 0.9
	wantDrain                 = 4000
	wantSpread                = 0.15
	dispatcherMost, redisMost = 150, 50 // MB
)

// lines lists the targets of the steps that ran.
func (r *results) lines() (all []line) {
	add := func(holds bool, target, measured string, args ...any) {
		all = append(all, line{target, fmt.Sprintf(measured, args...), holds})
	}
	if t := r.throughput; t != nil {
		rate, cpu := t.rate.median(), t.cpu.median()
		add(rate >= wantRate, fmt.Sprintf("end to end ≥ %d/s (aim %d)", wantRate, aimRate), "%.0f/s", rate)
		if r.floors != nil {
			share := rate / r.floors.jobs
			add(share >= wantOfFloor, fmt.Sprintf("end to end ≥ %.2f of the asynq floor", wantOfFloor), "%.2f of %.0f/s", share, r.floors.jobs)
		}
		add(cpu <= wantCPU, fmt.Sprintf("CPU s per 1,000 ≤ %.1f (aim %.1f)", wantCPU, aimCPU), "%.3f", cpu)
	}
	if l := r.latency; l != nil {
		add(l.p50 <= wantP50, fmt.Sprintf("at 20 events/s p50 ≤ %d ms", wantP50), "%.1f ms", l.p50)
		add(l.p99 <= wantP99, fmt.Sprintf("at 20 events/s p99 ≤ %d ms", wantP99), "%.1f ms", l.p99)
	}
	if i := r.isolation; i != nil {
		add(i.p99.ratio() <= wantTail, fmt.Sprintf("a fifth hangs: healthy p99 ≤ %.1f×", wantTail), "%v ms", i.p99)
		add(i.rate.ratio() >= wantShare, fmt.Sprintf("a fifth hangs: healthy rate ≥ %.1f×", wantShare), "%v /s", i.rate)
	}
	if h := r.hostility; h != nil {
		add(h.p99.ratio() <= wantTail, fmt.Sprintf("20 hostile: good p99 ≤ %.1f×", wantTail), "%v ms", h.p99)
		add(h.mem < dispatcherMost, fmt.Sprintf("20 hostile: dispatcher < %d MB", dispatcherMost), "%d MB", h.mem)
	}
	if len(r.backlogs) > 0 {
		slowest, spread := compare(r.backlogs)
		add(slowest >= wantDrain, fmt.Sprintf("draining ≥ %d/s", wantDrain), "%.0f/s, the slowest", slowest)
		if len(r.backlogs) > 1 {
			add(spread <= wantSpread, fmt.Sprintf("CPU per delivery within %.0f %% over backlogs", wantSpread*100), "%.0f %%", spread*100)
		}
	}
	if len(all) > 0 {
		add(r.dispatcherMB < dispatcherMost, fmt.Sprintf("dispatcher < %d MB", dispatcherMost), "%d MB", r.dispatcherMB)
		add(r.redisMB < redisMost, fmt.Sprintf("Redis < %d MB", redisMost), "%d MB", r.redisMB)
	}
	return all
}

// compare gives the slowest rate of all sizes, and by how much the CPU per delivery differs between the cheapest and
// the dearest size.
func compare(all []backlog) (slowest, spread float64) {
	slowest, least, most := all[0].rate.median(), all[0].cpu.median(), all[0].cpu.median()
	for _, b := range all {
		slowest, least, most = min(slowest, b.rate.median()), min(least, b.cpu.median()), max(most, b.cpu.median())
	}
	return slowest, most/least - 1
}

// String gives the ratio and the two medians.
func (v versus) String() string {
	return fmt.Sprintf("%.2f×: %.4g against %.4g", v.ratio(), v[1].median(), v[0].median())
}

// print writes the table. A missed target is not an error of the benchmark: machines differ, and other load disturbs
// them.
func (r *results) print(to io.Writer) error {
	table := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(table, "\ntarget\tmeasured\tholds?\n")
	missed := 0
	for _, l := range r.lines() {
		verdict := "yes"
		if !l.holds {
			verdict = "NO, MISSED"
			missed++
		}
		_, _ = fmt.Fprintln(table, strings.Join([]string{l.target, l.measured, verdict}, "\t"))
	}
	_, _ = fmt.Fprintf(table, "\n%d of %d targets missed\n", missed, len(r.lines()))
	return table.Flush()
}
