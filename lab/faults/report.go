package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// result is the outcome of a round.
type result struct {
	fault
	recovery recovery
	faulty   time.Duration // duration of the fault
	extra    int           // extra 2xx until the end of the round
	fed      int           // events that the followers of the feeds have
}

func (r result) String() string {
	line := fmt.Sprintf("%-52s %5.1f s; delivers again after %4.1f s", r.name, r.faulty.Seconds(),
		r.recovery.first.Seconds())
	if r.recovery.all > 0 {
		line += fmt.Sprintf(", all of before after %4.1f s", r.recovery.all.Seconds())
	}
	return line + fmt.Sprintf("; %d extra 2xx; %d followed", r.extra, r.fed)
}

// report is the outcome of a whole run.
type report struct {
	*suite
	results []result
	tally   tally
}

func (r report) print(out io.Writer) {
	p := lines(out)
	t := r.tally
	kills, others, kinds := r.killed(), 0, map[string]bool{}
	var worst result
	for _, x := range r.results {
		if x.storm == 0 {
			others++
			kinds[x.name] = true
		}
		if x.recovery.longest() > worst.recovery.longest() {
			worst = x
		}
	}
	p("faults", "%d: %d kills at %d failpoints (%s), %d others of %d kinds", kills+others, kills, len(r.hits),
		fewest(r.hits), others, len(kinds))
	p("events", "%d: %d answered 200, %d of unknown outcome that happened, %d expiries; %d deliveries",
		t.events(), t.accepted, t.reconciled, t.byTime, t.deliveries)
	p("lost", "%d", t.lost)
	p("feeds", "%d events followed, %d missing, out of order or otherwise wrong", t.followed, r.receipts.feedErrors())
	p("given up", "%d after every attempt, in the log; %d of deleted subscriptions", t.failed, t.cancelled)
	p("duplicates", "%d extra 2xx; %d answered too late for the sender", t.extra, t.late)
	p("bodies, signatures", "%d copies, %d bodies that vary, %d bad signatures", r.receipts.copies,
		r.receipts.count("body"), r.receipts.count("signature"))
	p("worst recovery", "%v after %s", worst.recovery.longest().Round(100*ms), worst.name)
	p("took", "%v, seed %d", time.Since(r.began).Round(time.Second), r.o.seed)
	p("figure:", "%d lost of %d events after %d faults, seed %d", t.lost, t.events(), kills+others, r.o.seed)
	r.receipts.print(out)
}

// lines gives a function that writes a line with a label.
func lines(out io.Writer) func(label, format string, args ...any) {
	return func(label, format string, args ...any) {
		fmt.Fprintf(out, "%-18s "+format+"\n", append([]any{label}, args...)...)
	}
}

// killed counts the kills so far.
func (w *suite) killed() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, hits := range w.hits {
		n += hits
	}
	return n
}

func fewest(hits map[string]int) string {
	if len(hits) == 0 {
		return "none"
	}
	return fmt.Sprintf("each %d times or more", slices.Min(slices.Collect(maps.Values(hits))))
}

// print writes how often each kind of violation occurred, and the first five of each kind.
func (l *receiptLog) print(out io.Writer) {
	const most = 5
	for _, kind := range slices.Sorted(maps.Keys(l.violations)) {
		all := l.violations[kind]
		fmt.Fprintf(out, "VIOLATED: %s, %d times\n", kind, len(all))
		for _, text := range all[:min(len(all), most)] {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
}
