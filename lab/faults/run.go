package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/world"
)

var errViolated = errors.New("something does not hold that must")

// run builds the commands and runs the fault suite; with the argument teeth on deliberately broken variants of the
// service, whose mistakes it must find.
func run(ctx context.Context, o options, teeth bool, out io.Writer) error {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	switch err := build(ctx, o, dir); {
	case err != nil:
		return err
	case teeth:
		return errors.Join(runVariants(ctx, o, dir), tryAll(ctx, o, dir, feedVariants, 1, tryFeed))
	}
	var r interface {
		print(io.Writer)
		violated() error
	}
	if o.money {
		r, err = runMoney(ctx, o, dir)
	} else {
		r, err = runPlan(ctx, o, dir)
	}
	if err == nil {
		r.print(out)
		err = r.violated()
	}
	return err
}

// build compiles the commands of the service and the suite into dir.
func build(ctx context.Context, o options, dir string) error {
	b := procs.BuildOptions{Tags: []string{"failpoints"}, Race: o.race}
	return b.CompileTo(ctx, dir+string(filepath.Separator), "lab/faults/http", "lab/faults/dispatcher")
}

func (w *suite) violated() error {
	if len(w.receipts.violations) > 0 {
		return fmt.Errorf("%w: %v", errViolated, w.receipts)
	}
	return nil
}

// runPlan runs all rounds of a seed. dir holds the built commands.
func runPlan(ctx context.Context, o options, dir string) (r report, err error) {
	err = inSuite(ctx, o, dir, sound, func(w *suite) (err error) {
		r.suite = w
		w.o.logf("faults: seed %d, %d changes a second, timeout %v, lease %v", o.seed, o.rate, timeout, lease)
		w.load.start(o.rate)
		rounds := plan(o)
		for number := 0; w.receipts.count("stuck") == 0; number++ {
			if number == len(rounds) {
				rounds = append(rounds, w.further(number)...)
			}
			if number == len(rounds) {
				break
			}
			played, err := w.play(ctx, number, rounds[number])
			if err != nil {
				return err
			}
			r.results = append(r.results, played)
			o.logf("%4d  %v; %d accepted", number+1, played, w.load.accepted.Load())
		}
		r.tally, err = w.settle(ctx)
		return err
	})
	return r, err
}

// settle ends the load, waits until every delivery has ended, and compares the receipts with the commits.
func (w *suite) settle(ctx context.Context) (tally, error) {
	w.load.stop()
	// The expiry of each secured deposit is another change to deliver.
	if _, err := poll(ctx, 50*ms, w.o.deadline, func() (bool, error) {
		secured, err := value[int](ctx, w, `SELECT count(*) FROM deposits WHERE status = 'active'`)
		return secured == 0, err
	}); err != nil {
		return tally{}, err
	}
	cut := time.Now()
	ended := func() (bool, error) {
		n, err := w.open(ctx, time.Now(), nil)
		return n == 0, err
	}
	// Transactions that were in progress at the time cut commit within a second.
	if err := world.Sleep(ctx, time.Second); err != nil {
		return tally{}, err
	}
	_, err := w.until(ctx, time.Now(), ended)
	if err = errors.Join(err, w.awaitFed(ctx)); err != nil {
		return tally{}, err
	}
	w.unfollow()
	return w.audit(ctx, cut)
}

// further returns rounds beyond the plan: for failpoints not reached, then any faults until there are enough
// events.
func (w *suite) further(number int) []fault {
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
