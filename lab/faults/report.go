package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

type roundResult struct {
	fault
	faulty time.Duration // Duration of the fault itself.
	// Time until all changes from before the end of the fault were delivered.
	recovery time.Duration
}

func (r roundResult) String() string {
	return fmt.Sprintf("%-52s %5.1f s; recovered after %4.1f s", r.name, r.faulty.Seconds(), r.recovery.Seconds())
}

type report struct {
	*suite
	results []roundResult
	tally   tally
}

func (r report) print(out io.Writer) {
	t, faults, worst := r.tally, r.killed(), roundResult{}
	for _, x := range r.results {
		if x.storm == 0 {
			faults++
		}
		if x.recovery > worst.recovery {
			worst = x
		}
	}
	fmt.Fprintf(out, "faults          %d, %d of them kills at %d failpoints\n", faults, r.killed(), len(r.hits))
	fmt.Fprintf(out, "events          %d, %d of them answered 200; %d deliveries\n", t.events, t.accepted, t.deliveries)
	fmt.Fprintf(out, "feeds           %d events followed, %d missing, out of order or otherwise wrong\n", t.followed,
		r.receipts.feedErrors())
	fmt.Fprintf(out, "duplicates      %d extra 2xx; %d answered too late for the sender\n", t.extra, t.late)
	fmt.Fprintf(out, "worst recovery  %v after %s\n", worst.recovery.Round(100*ms), worst.name)
	fmt.Fprintf(out, "figure: %d lost of %d events after %d faults in %v, seed %d\n", t.lost, t.events, faults,
		time.Since(r.began).Round(time.Second), r.o.seed)
	r.receipts.print(out)
}

// killed returns the number of kills at failpoints so far.
func (w *suite) killed() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, hits := range w.hits {
		n += hits
	}
	return n
}

// print writes the number of each kind of violation, and the first five of each.
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
