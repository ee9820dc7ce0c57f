package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// results are the figures of the steps that ran.
type results struct {
	measured []line
	boards   []*board // of the present step

	jobs float64 // a second through the queue alone; 0 if not measured
	rate float64 // of deliveries at full speed; 0 if not measured

	dispatcherMB, redisMB int // highest peak of any dispatcher, and of Redis
}

// line compares a target with the measured figure.
type line struct {
	target, measured string
	holds            bool
	place            int // of the target in the table
}

// board makes a board that is printed at the end of the step.
func (r *results) board(operation string, pairs ...pair) *board {
	b := newBoard(operation, pairs...)
	r.boards = append(r.boards, b)
	return b
}

// peak records the memory of the running dispatcher and of Redis.
func (r *results) peak(w *workbench) {
	r.dispatcherMB = max(r.dispatcherMB, peakMB(w.dispatcher.Process().Pid()))
	r.redisMB = max(r.redisMB, peakMB(w.services.Redis.Pid()))
}

// target is a row of the last table. docs/guides/benchmark.md describes each measurement.
type target struct {
	key   string // of the figure that a step records
	text  string // verbs stand for the details of the figure
	holds func(bound, figure float64) bool
	bound float64
}

func atLeast(bound, figure float64) bool { return figure >= bound }
func atMost(bound, figure float64) bool  { return figure <= bound }
func below(bound, figure float64) bool   { return figure < bound }

var targets = []target{
	{"rate", "end to end ≥ 3000/s (aim 4000)", atLeast, 3000},
	{"of floor", "end to end ≥ 0.35 of the asynq floor", atLeast, 0.35},
	{"CPU", "CPU s per 1,000 ≤ 0.5 (aim 0.4)", atMost, 0.5},
	{"keyed rate", "keyed ÷ keyless, rate ≥ 0.75 (aim 0.85)", atLeast, 0.75},
	{"keyed CPU", "keyed ÷ keyless, CPU ≤ 1.3 (aim 1.2)", atMost, 1.3},
	{"full", "full ÷ empty database, CPU ≤ 1.15 (aim 1.1)", atMost, 1.15},
	{"http MB", "http ≤ 100 MB under full load", atMost, 100},
	{"dispatcher MB", "dispatcher ≤ 60 MB under full load", atMost, 60},
	{"unsigned", "every delivery is signed", atMost, 0},
	{"repeated", "no delivery arrives twice", atMost, 0},
	{"scale postgres", "2 http + 2 dispatchers ÷ 1 + 1, Postgres's CPU ≤ 1.25 (aim 1.15)", atMost, 1.25},
	{"scale", "2 http + 2 dispatchers ÷ 1 + 1, CPU ≤ 1.35 (aim 1.25)", atMost, 1.35},
	{"quiet log p50", "at 20 events/s p50 ≤ 15 ms", atMost, 15},
	{"quiet log p99", "at 20 events/s p99 ≤ 40 ms", atMost, 40},
	{"quiet p50", "at 20 events/s call → receiver p50 ≤ 6 ms (aim 5)", atMost, 6},
	{"quiet p99", "at 20 events/s call → receiver p99 ≤ 14 ms (aim 12)", atMost, 14},
	{"quiet CPU", "at 20 events/s CPU an event ≤ 6.5 ms (aim 5)", atMost, 6.5},
	{"idle CPU", "at rest dispatcher ≤ 1.2 %% of a core (aim 0.5)", atMost, 1.2},
	{"idle commits", "at rest ≤ 8 commits/s (aim 2)", atMost, 8},
	{"feed", "at 500 events/s commit → waiting follower p99 ≤ 200 ms", atMost, 200},
	{"waiting CPU", "1000 waiting partners ≤ 10 %% of a core", atMost, 10},
	{"waiting MB", "1000 waiting partners ≤ 40 MB of http", atMost, 40},
	{"hanging", "5 of 30 endpoints hang: healthy p99 ≤ 1.2× (aim 1.05)", atMost, 1.2},
	{"isolation p99", "a fifth hangs: healthy p99 ≤ 1.2×", atMost, 1.2},
	{"isolation rate", "a fifth hangs: healthy rate ≥ 0.9×", atLeast, 0.9},
	{"hostile p99", "20 hostile: good p99 ≤ 1.2×", atMost, 1.2},
	{"hostile MB", "20 hostile: dispatcher < 150 MB", below, 150},
	{"drain", "draining ≥ 4000/s", atLeast, 4000},
	{"drain spread", "CPU per delivery within 15 %% over backlogs", atMost, 0.15},
	{"peak dispatcher", "dispatcher < 150 MB", below, 150},
	{"peak Redis", "Redis < 50 MB", below, 50},
	{"provider API", "provider hangs ÷ answers, p99 of the API ≤ 1.3", atMost, 1.3},
	{"provider delivery", "provider hangs ÷ answers, p99 of a delivery ≤ 1.3", atMost, 1.3},
	{"settled", "%d payments of an outage settled within 5m0s", atMost, 300},
	{"notices", "1,000 unsigned notices/s: p99 of POST deposits ≤ 1.3×", atMost, 1.3},
	{"Redis keyed", "Redis after %d keyed calls ≤ 50 MB (aim 30)", atMost, 50},
	{"posts", "POST keyed ÷ pgbench, %s ≥ 1.6 (aim 2)", atLeast, 1.6},
	{"gets", "GET ÷ pgbench's SELECT ≥ 0.35 (aim 0.45)", atLeast, 0.35},
	{"lists", "each of %d lists ≤ 10 ms (aim 3)", atMost, 10},
}

// add compares a figure, as shown, with its target.
func (r *results) add(key string, figure float64, shown string, details ...any) {
	place := slices.IndexFunc(targets, func(t target) bool { return t.key == key })
	t := targets[place]
	holds := t.holds(t.bound, figure) && !strings.HasPrefix(shown, none) // a run that broke off has figures missing
	r.measured = append(r.measured, line{fmt.Sprintf(t.text, details...), shown, holds, place})
}

// addSample compares the median of the rounds.
func (r *results) addSample(key string, s sample, decimals int, unit string) {
	r.add(key, s.median(), s.show(decimals, true)+unit)
}

func (r *results) addRatio(key string, q ratio, details ...any) {
	r.add(key, q.of, q.String(), details...)
}

// lines lists the targets of the steps that ran, in the order of the table.
func (r *results) lines() []line {
	return slices.SortedStableFunc(slices.Values(r.measured), func(a, b line) int { return cmp.Compare(a.place, b.place) })
}

// print writes the table. A missed target is not an error of the benchmark: machines differ, and other load disturbs
// them.
func (r *results) print(to io.Writer) {
	if r.dispatcherMB > 0 {
		r.add("peak dispatcher", float64(r.dispatcherMB), fmt.Sprintf("%d MB", r.dispatcherMB))
		r.add("peak Redis", float64(r.redisMB), fmt.Sprintf("%d MB", r.redisMB))
	}
	out := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	fmt.Fprint(out, "\ntarget\tmeasured\tholds?\n")
	missed := 0
	for _, l := range r.lines() {
		verdict := "yes"
		if !l.holds {
			verdict = "NO, MISSED"
			missed++
		}
		fmt.Fprintln(out, strings.Join([]string{l.target, l.measured, verdict}, "\t"))
	}
	fmt.Fprintf(out, "\n%d of %d targets missed\n", missed, len(r.lines()))
	_ = out.Flush() // fails when the terminal is gone
}
