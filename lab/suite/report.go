package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of `go test -json` (go doc test2json), or a line that announces the number of packages.
type event struct {
	Action, Package, Test, Output, ImportPath string

	Elapsed float64 // Duration of the test or package in seconds.
	// The announced number of packages, if Action is "packages".
	Packages int
}

// name returns the event's package and test, or its package alone.
func (e event) name() string {
	return strings.TrimSuffix(strings.TrimPrefix(cmp.Or(e.Package, e.ImportPath), "partnerdeposits/")+" "+e.Test, " ")
}

// report counts the events of a test run, and prints failures at once.
type report struct {
	mu  sync.Mutex
	out io.Writer

	start                   time.Time
	total, packages, cached int
	passed, failed, skipped int
	// Packages that failed without a failed test, as by a panic.
	broken int
	// Packages with a failed test, whose own failure is not printed.
	explained map[string]bool
	running   map[string]time.Time
	// Output so far of the tests and packages still running.
	said map[string][]string
	took []event // The last event of each ended package and test.
}

func newReport(out io.Writer) *report {
	return &report{out: out, start: time.Now(), explained: map[string]bool{},
		running: map[string]time.Time{}, said: map[string][]string{}}
}

// tick prints the test run's progress at intervals, until stop is called.
func (r *report) tick(every time.Duration) (stop func()) {
	ticker, done := time.NewTicker(every), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				r.progress()
			case <-done:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

func (r *report) progress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := ""
	oldest := slices.SortedFunc(maps.Keys(r.running), func(a, b string) int { return r.running[a].Compare(r.running[b]) })
	if len(oldest) > 0 {
		now = "; running: " + strings.Join(oldest, ", ")
	}
	failed := ""
	if n := r.failed + r.broken; n > 0 {
		failed = fmt.Sprintf(", %d FAILED", n)
	}
	fmt.Fprintf(r.out, "# testing … %.0f s: %d of %d packages (%d of them from the cache), %d tests%s%s\n",
		time.Since(r.start).Seconds(), r.packages, r.total, r.cached, r.passed+r.failed, failed, now)
}

// read counts the events of a test run. Other lines are printed unchanged.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				r.take(e)
			} else {
				fmt.Fprintf(r.out, "%s", line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := e.name()
	switch e.Action {
	case "packages":
		r.total += e.Packages
	case "start":
		r.running[name] = time.Now()
	case "output", "build-output":
		r.said[name] = append(r.said[name], e.Output)
		if e.Test == "" && strings.HasSuffix(e.Output, "(cached)\n") {
			r.cached++
		}
	case "pass", "skip":
		// The output of a passed test may contain the report of a data race in another test: the race detector prints a
		// report while any test runs.
		if said := strings.Join(r.said[name], ""); strings.Contains(said, "WARNING: DATA RACE") {
			fmt.Fprintf(r.out, "--- race beside %s\n%s", name, said)
		}
		r.end(e, name)
	case "fail", "build-fail":
		fmt.Fprintf(r.out, "--- FAIL %s (%.2f s)\n%s", name, e.Elapsed, strings.Join(r.said[name], ""))
		r.end(e, name)
	}
}

func (r *report) end(e event, name string) {
	delete(r.said, name)
	delete(r.running, name)
	r.took = append(r.took, e)
	switch {
	case e.Test == "":
		r.packages++
		if e.Action == "fail" && !r.explained[e.Package] {
			r.broken++
		}
	case e.Action == "pass":
		r.passed++
	case e.Action == "fail":
		r.failed++
		r.explained[e.Package] = true
	default:
		r.skipped++
	}
}

// close prints the totals of the test run, and reports whether every test passed.
func (r *report) close() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slowest("packages", func(e event) bool { return e.Test != "" })
	r.slowest("tests", func(e event) bool { return e.Test == "" })
	for name := range r.running {
		fmt.Fprintf(r.out, "--- %s did not end\n%s", name, strings.Join(r.said[name], ""))
	}
	fmt.Fprintf(r.out, "# %d packages (%d of them from the cache), %d without an end, %.0f s\n%d passed, %d failed, %d skipped\n",
		r.packages, r.cached, len(r.running), time.Since(r.start).Seconds(), r.passed, r.failed+r.broken, r.skipped)
	return r.failed+r.broken+r.skipped+len(r.running) == 0 && r.passed > 0
}

// slowest prints the ten slowest packages or tests for which out is false.
func (r *report) slowest(name string, out func(event) bool) {
	fmt.Fprintf(r.out, "# the slowest %s, in seconds\n", name)
	slowest := slices.DeleteFunc(slices.Clone(r.took), out)
	slices.SortFunc(slowest, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, e := range slowest[:min(10, len(slowest))] {
		fmt.Fprintf(r.out, "%8.1f %s\n", e.Elapsed, e.name())
	}
}
