package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

var errViolated = errors.New("something does not hold that must")

func run(ctx context.Context, o options, teeth bool) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(ctx, o, dir); err != nil {
		return err
	}
	if teeth {
		return errors.Join(runVariants(ctx, o, dir), runFeedVariants(ctx, o, dir))
	}
	r, err := runPlan(ctx, o, dir)
	if r.receipts != nil {
		r.print(os.Stdout)
	}
	if err == nil && !r.ok() {
		err = errViolated
	}
	if err == nil && o.only == "" {
		err = runRestore(ctx, o, dir)
	}
	return err
}

// runPlan runs all rounds of a seed. dir has the commands.
func runPlan(ctx context.Context, o options, dir string) (r report, err error) {
	began := time.Now()
	w, err := newSuite(ctx, o, dir, sound)
	if err != nil {
		return r, err
	}
	defer w.close()
	r = report{o: o, receipts: w.receipts, hits: w.hits}
	o.logf("faults: seed %d, %d changes a second, timeout %v, lease %v", o.seed, o.rate, o.timeout, w.lease())
	w.mailLog.on = true
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
func (w *suite) settle(ctx context.Context) (tally, error) {
	w.load.stop()
	if err := w.awaitExpiries(ctx); err != nil {
		return tally{}, err
	}
	cut := time.Now()
	if err := pause(ctx, time.Second); err != nil { // commits in progress at the cut end within this second
		return tally{}, err
	}
	if err := errors.Join(w.finish(ctx), w.finishMails(ctx), w.awaitFed(ctx)); err != nil {
		return tally{}, err
	}
	w.followers.stop()
	return w.audit(ctx, cut)
}

// awaitExpiries waits until no deposit is active: secured deposits expire, and each expiry is another change.
func (w *suite) awaitExpiries(ctx context.Context) error {
	return w.awaitNone(ctx, `SELECT count(*) FROM deposits WHERE status = 'active'`)
}

// awaitNone waits until a count is 0, or the deadline has passed.
func (w *suite) awaitNone(ctx context.Context, count string) error {
	_, err := poll(ctx, 50*ms, w.o.deadline, func() (bool, error) {
		left, err := query(ctx, w, pgx.RowTo[int], count)
		return err == nil && left[0] == 0, err
	})
	return err
}

// further gives rounds beyond the plan: first the failpoints that were not reached, then faults of any kind until there
// are enough events.
func (w *suite) further(number int) []round {
	missing := w.missing(wanted(w.o))
	switch {
	case len(missing) > 0 && w.retried < 3:
		w.retried++
		return stormsOf(missing, rand.New(rand.NewPCG(w.o.seed, uint64(number)))) //nolint:gosec // repeatable
	case len(missing) > 0:
		w.violateMissing(missing)
	case w.load.accepted.Load() < int64(w.o.events):
		o := w.o
		o.faults, o.seed = 1, w.o.seed+uint64(number)      //nolint:gosec // counts from 0
		return others(o, rand.New(rand.NewPCG(o.seed, 1))) //nolint:gosec // repeatable on purpose
	}
	return nil
}
