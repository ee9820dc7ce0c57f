package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// results are the figures of the steps that ran; nil for the other steps.
type results struct {
	floors     *floors
	throughput *throughput
	quiet      *quiet
	idle       *idle
	feed       *feedTimes
	waiting    *waitingCost
	hanging    *hanging
	isolation  *isolation
	hostility  *hostility
	notices    *notices
	backlogs   []backlog
	provider   *provider
	redisKeyed *redisKeyed
	yardstick  yardstick
	lists      []listTime
	counts     counts // of the receiver, while rates were measured

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
	wantRate, aimRate                  = 3000, 4000
	wantOfFloor                        = 0.35
	wantCPU, aimCPU                    = 0.5, 0.4
	wantKeyedRate, aimKeyedRate        = 0.75, 0.85
	wantKeyedCPU, aimKeyedCPU          = 1.3, 1.2
	wantP50, wantP99                   = 15, 40 // ms
	wantCallP50, aimCallP50            = 6, 5
	wantCallP99, aimCallP99            = 14, 12
	wantIdle, aimIdle                  = 1.2, 0.5 // % of a core
	wantCommits, aimCommits            = 8, 2
	wantFeed                           = 200 // ms
	wantWaiting                        = 10  // % of a core
	wantWaitingMB                      = 40
	aimTail                            = 1.05
	wantQuietCPU, aimQuietCPU          = 6.5, 5
	wantTail, wantShare                = 1.2, 0.9
	wantBesideNotices                  = 1.3 // p99 of POST deposits beside unsigned notices
	wantFull, aimFull                  = 1.15, 1.1
	httpKeyedMost, dispatcherKeyedMost = 100, 60 // MB
	redisKeyedMost, redisKeyedAim      = 50, 30  // MB
	wantPosts, aimPosts                = 1.6, 2
	wantGet, aimGet                    = 0.35, 0.45
	wantList, aimList                  = 10, 3 // ms
	wantDrain                          = 4000
	wantSpread                         = 0.15
	wantProvider                       = 1.3
	wantSettled                        = 5 * time.Minute
	dispatcherMost, redisMost          = 150, 50 // MB
)

// table collects lines.
type table []line

func (t *table) add(holds bool, target, measured string, args ...any) {
	said := fmt.Sprintf(measured, args...)
	*t = append(*t, line{target, said, holds && !strings.HasPrefix(said, none)}) // a run that broke off has figures missing
}

// lines lists the targets of the steps that ran.
func (r *results) lines() []line {
	var t table
	r.throughputLines(&t)
	r.quietLines(&t)
	r.idleLines(&t)
	r.feedLines(&t)
	r.neighbourLines(&t)
	if len(r.backlogs) > 0 {
		slowest, spread := compare(r.backlogs)
		t.add(slowest >= wantDrain, fmt.Sprintf("draining ≥ %d/s", wantDrain), "%.0f/s, the slowest", slowest)
		if len(r.backlogs) > 1 {
			t.add(spread <= wantSpread, fmt.Sprintf("CPU per delivery within %.0f %% over backlogs", wantSpread*100), "%.0f %%", spread*100)
		}
	}
	if len(t) > 0 {
		t.add(r.dispatcherMB < dispatcherMost, fmt.Sprintf("dispatcher < %d MB", dispatcherMost), "%d MB", r.dispatcherMB)
		t.add(r.redisMB < redisMost, fmt.Sprintf("Redis < %d MB", redisMost), "%d MB", r.redisMB)
	}
	r.providerLines(&t)
	r.apiLines(&t)
	return t
}

func (r *results) throughputLines(t *table) {
	found := r.throughput
	if found == nil {
		return
	}
	rate, cpu := found.rate.median(), found.cpu.median()
	t.add(rate >= wantRate, fmt.Sprintf("end to end ≥ %d/s (aim %d)", wantRate, aimRate), "%s/s", found.rate.show(0, true))
	if r.floors != nil {
		share := rate / r.floors.jobs
		t.add(share >= wantOfFloor, fmt.Sprintf("end to end ≥ %.2f of the asynq floor", wantOfFloor), "%.2f of %.0f/s", share, r.floors.jobs)
	}
	t.add(cpu <= wantCPU, fmt.Sprintf("CPU s per 1,000 ≤ %.1f (aim %.1f)", wantCPU, aimCPU), "%s", found.cpu.show(3, true))
	if k := found.keys; k != nil {
		t.add(k.rate.of >= wantKeyedRate, fmt.Sprintf("keyed ÷ keyless, rate ≥ %.2f (aim %.2f)", wantKeyedRate, aimKeyedRate), "%v", k.rate)
		t.add(k.cpu.of <= wantKeyedCPU, fmt.Sprintf("keyed ÷ keyless, CPU ≤ %.1f (aim %.1f)", wantKeyedCPU, aimKeyedCPU), "%v", k.cpu)
	}
	if f := found.full; f != nil {
		t.add(f.of <= wantFull, fmt.Sprintf("full ÷ empty database, CPU ≤ %.2f (aim %.1f)", wantFull, aimFull), "%v", *f)
	}
	t.add(found.httpMB.median() <= httpKeyedMost, fmt.Sprintf("http ≤ %d MB under full load", httpKeyedMost), "%s MB", found.httpMB.show(0, true))
	t.add(found.dispatcherMB.median() <= dispatcherKeyedMost, fmt.Sprintf("dispatcher ≤ %d MB under full load", dispatcherKeyedMost), "%s MB", found.dispatcherMB.show(0, true))
	t.add(r.counts.Invalid == 0, "every delivery is signed", "%d of %d are not", r.counts.Invalid, r.counts.Taken+r.counts.Invalid)
	t.add(r.counts.Duplicates == 0, "no delivery arrives twice", "%d of %d", r.counts.Duplicates, r.counts.Taken)
}

func (r *results) providerLines(t *table) {
	p := r.provider
	if p == nil {
		return
	}
	t.add(p.api.ratio() <= wantProvider, fmt.Sprintf("provider hangs ÷ answers, p99 of the API ≤ %.1f", wantProvider), "%.2f", p.api.ratio())
	t.add(p.delivery.ratio() <= wantProvider, fmt.Sprintf("provider hangs ÷ answers, p99 of a delivery ≤ %.1f", wantProvider), "%.2f", p.delivery.ratio())
	t.add(p.settled <= wantSettled, fmt.Sprintf("%d payments of an outage settled within %v", p.payments, wantSettled), "%v", p.settled.Round(time.Second))
}

func (r *results) quietLines(t *table) {
	l := r.quiet
	if l == nil {
		return
	}
	t.add(l.latency.p50 <= wantP50, fmt.Sprintf("at 20 events/s p50 ≤ %d ms", wantP50), "%.1f ms", l.latency.p50)
	t.add(l.latency.p99 <= wantP99, fmt.Sprintf("at 20 events/s p99 ≤ %d ms", wantP99), "%.1f ms", l.latency.p99)
	t.add(l.p50.median() <= wantCallP50, fmt.Sprintf("at 20 events/s call → receiver p50 ≤ %d ms (aim %d)", wantCallP50, aimCallP50), "%s ms", l.p50.show(1, true))
	t.add(l.p99.median() <= wantCallP99, fmt.Sprintf("at 20 events/s call → receiver p99 ≤ %d ms (aim %d)", wantCallP99, aimCallP99), "%s ms", l.p99.show(1, true))
	t.add(l.cpu.median() <= wantQuietCPU, fmt.Sprintf("at 20 events/s CPU an event ≤ %.1f ms (aim %d)", wantQuietCPU, aimQuietCPU), "%s ms", l.cpu.show(2, true))
}

func (r *results) idleLines(t *table) {
	if i := r.idle; i != nil {
		t.add(i.dispatcher.median() <= wantIdle, fmt.Sprintf("at rest dispatcher ≤ %.1f %% of a core (aim %.1f)", wantIdle, aimIdle), "%s %%", i.dispatcher.show(2, true))
		t.add(i.commits.median() <= wantCommits, fmt.Sprintf("at rest ≤ %d commits/s (aim %d)", wantCommits, aimCommits), "%s/s", i.commits.show(1, true))
	}
}

func (r *results) feedLines(t *table) {
	if f := r.feed; f != nil {
		t.add(len(f.p99) > 0 && f.p99.percentile(100) <= wantFeed, fmt.Sprintf("at %d events/s commit → waiting follower p99 ≤ %d ms", feedRate, wantFeed), "%s ms", f.p99.show(1, true))
	}
	if c := r.waiting; c != nil {
		t.add(c.cpu.median() <= wantWaiting, fmt.Sprintf("%d waiting partners ≤ %d %% of a core", mostWaiters, wantWaiting), "%s %%", c.cpu.show(2, true))
		t.add(c.httpMB.median() <= wantWaitingMB, fmt.Sprintf("%d waiting partners ≤ %d MB of http", mostWaiters, wantWaitingMB), "%s MB", c.httpMB.show(0, true))
	}
}

func (r *results) neighbourLines(t *table) {
	if h := r.hanging; h != nil {
		t.add(h.five.of <= wantTail, fmt.Sprintf("%d of %d endpoints hang: healthy p99 ≤ %.1f× (aim %.2f)", mostHanging, addresses, wantTail, aimTail), "%v", h.five)
	}
	if i := r.isolation; i != nil {
		t.add(i.p99.ratio() <= wantTail, fmt.Sprintf("a fifth hangs: healthy p99 ≤ %.1f×", wantTail), "%v ms", i.p99)
		t.add(i.rate.ratio() >= wantShare, fmt.Sprintf("a fifth hangs: healthy rate ≥ %.1f×", wantShare), "%v /s", i.rate)
	}
	if h := r.hostility; h != nil {
		t.add(h.p99.ratio() <= wantTail, fmt.Sprintf("20 hostile: good p99 ≤ %.1f×", wantTail), "%v ms", h.p99)
		t.add(h.mem < dispatcherMost, fmt.Sprintf("20 hostile: dispatcher < %d MB", dispatcherMost), "%d MB", h.mem)
	}
}

// apiLines are the targets of the program api.
func (r *results) apiLines(t *table) {
	if n := r.notices; n != nil {
		t.add(n.p99.of <= wantBesideNotices, fmt.Sprintf("1,000 unsigned notices/s: p99 of POST deposits ≤ %.1f×", wantBesideNotices), "%v", n.p99)
	}
	if k := r.redisKeyed; k != nil {
		t.add(k.peak <= redisKeyedMost, fmt.Sprintf("Redis after %d keyed calls ≤ %d MB (aim %d)", k.calls, redisKeyedMost, redisKeyedAim), "%d MB", k.peak)
	}
	for _, partners := range slices.Sorted(maps.Keys(r.yardstick.posts)) {
		p := r.yardstick.posts[partners]
		t.add(p.of >= wantPosts, fmt.Sprintf("POST keyed ÷ pgbench, %s ≥ %.1f (aim %d)", count(partners, "partner"), wantPosts, aimPosts), "%v", p)
	}
	if g := r.yardstick.get; g != nil {
		t.add(g.of >= wantGet, fmt.Sprintf("GET ÷ pgbench's SELECT ≥ %.2f (aim %.2f)", wantGet, aimGet), "%v", *g)
	}
	if len(r.lists) > 0 {
		slowest := slices.MaxFunc(r.lists, func(a, b listTime) int { return cmp.Compare(a.median, b.median) })
		t.add(slowest.median <= wantList, fmt.Sprintf("each of %d lists ≤ %d ms (aim %d)", len(r.lists), wantList, aimList), "%.1f ms: %s", slowest.median, slowest.list)
	}
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
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprint(out, "\ntarget\tmeasured\tholds?\n")
	missed := 0
	for _, l := range r.lines() {
		verdict := "yes"
		if !l.holds {
			verdict = "NO, MISSED"
			missed++
		}
		_, _ = fmt.Fprintln(out, strings.Join([]string{l.target, l.measured, verdict}, "\t"))
	}
	_, _ = fmt.Fprintf(out, "\n%d of %d targets missed\n", missed, len(r.lines()))
	return out.Flush()
}
