package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/cmd/internal/procs"
)

var errViolated = errors.New("something does not hold that must")

func run(ctx context.Context, o options, teeth bool) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if teeth {
		return runVariants(ctx, o, dir)
	}
	r, err := runPlan(ctx, o, dir)
	if r.receipts != nil {
		r.print(os.Stdout)
	}
	if err == nil && !r.ok() {
		err = errViolated
	}
	return err
}

// build builds http and a dispatcher with failpoints into dir. The dispatcher of a variant is named after the variant.
func build(ctx context.Context, o options, dir string, variant ...string) error {
	b := procs.Build{Tags: append([]string{"failpoints"}, variant...), Race: o.race}
	if len(variant) == 0 {
		return b.Into(ctx, dir+string(filepath.Separator), "http", "dispatcher")
	}
	return b.Into(ctx, filepath.Join(dir, variant[0]), "dispatcher")
}

// runPlan runs all rounds of a seed.
func runPlan(ctx context.Context, o options, dir string) (r report, err error) {
	if err := build(ctx, o, dir); err != nil {
		return r, err
	}
	began := time.Now()
	w, err := newWorld(ctx, o, dir, realDispatcher)
	if err != nil {
		return r, err
	}
	defer w.close()
	r = report{o: o, receipts: w.receipts, hits: w.hits}
	o.logf("faults: seed %d, %d changes a second, timeout %v, lease %v", o.seed, o.rate, o.timeout, w.lease())
	w.load.start(o.rate)
	rounds := plan(o)
	for number := 0; ; number++ {
		if number == len(rounds) {
			more := w.further(number)
			if len(more) == 0 {
				break
			}
			rounds = append(rounds, more...)
		}
		played, err := w.play(ctx, number, rounds[number])
		if err != nil {
			return r, err
		}
		r.results = append(r.results, played)
		o.logf("%4d  %v; %d accepted", number+1, played, w.load.accepted.Load())
		if w.receipts.count("stuck") > 0 {
			break
		}
	}
	r.tally, err = w.settle(ctx)
	r.took = time.Since(began)
	return r, err
}

// settle ends the load, waits until every delivery has ended, and runs the audit.
func (w *world) settle(ctx context.Context) (tally, error) {
	w.load.stop()
	// Secured deposits expire later, and each expiry is another change.
	for patience := time.Now().Add(w.o.deadline); time.Now().Before(patience); {
		left, err := query(ctx, w, pgx.RowTo[int], `SELECT count(*) FROM deposits WHERE status = 'active'`)
		if err != nil {
			return tally{}, err
		}
		if left[0] == 0 {
			break
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return tally{}, err
		}
	}
	cut := time.Now()
	if err := pause(ctx, time.Second); err != nil { // commits in progress at the cut end within this second
		return tally{}, err
	}
	if err := w.finish(ctx); err != nil {
		return tally{}, err
	}
	return w.audit(ctx, cut)
}

// further gives rounds beyond the plan: first the failpoints that were not reached, then faults of any kind until there
// are enough events.
func (w *world) further(number int) []round {
	missing := w.missing()
	switch {
	case len(missing) > 0 && w.retried < 3:
		w.retried++
		return stormsOf(missing, rand.New(rand.NewPCG(w.o.seed, uint64(number)))) //nolint:gosec // repeatable on purpose
	case len(missing) > 0:
		for _, p := range missing {
			w.receipts.violate("failpoint", "%s was reached %d times only", p.label(), w.hits[p.label()])
		}
	case w.load.accepted.Load() < int64(w.o.events):
		o := w.o
		o.faults, o.seed = 1, w.o.seed+uint64(number)      //nolint:gosec // counts from 0
		return others(o, rand.New(rand.NewPCG(o.seed, 1))) //nolint:gosec // repeatable on purpose
	}
	return nil
}
