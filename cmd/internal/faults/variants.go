package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// realDispatcher meets the same faults as the variants and must not lose anything.
const realDispatcher = "dispatcher"

// variants are the dispatchers that lose deliveries, by build tag (cmd/internal/wire/broken.go).
var variants = []string{"broken_mark_before_send", "broken_no_scan", "broken_asynq_retries"}

// runVariants runs every variant through a few faults, all at the same time, each in a world of its own.
func runVariants(ctx context.Context, o options, dir string) error {
	if err := build(ctx, o, dir); err != nil {
		return err
	}
	for _, v := range variants {
		if err := build(ctx, o, dir, v); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	errs := make([]error, 1+len(variants))
	for i, v := range append([]string{realDispatcher}, variants...) {
		group.Go(func() {
			if errs[i] = try(ctx, o, dir, v); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", v, errs[i])
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func try(ctx context.Context, o options, dir, variant string) error {
	say := o.logf
	o.logf, o.nodes = func(string, ...any) {}, 1
	o.deadline = o.timeout + 20*time.Second + 10*time.Second*o.slack()
	w, err := newWorld(ctx, o, dir, variant)
	if err != nil {
		return err
	}
	defer w.close()
	w.load.start(o.rate)
	if err := w.runFewFaults(ctx); err != nil {
		return err
	}
	found, err := w.settle(ctx)
	if err != nil {
		return err
	}
	say("%-24s %5d accepted, %4d lost", variant, found.accepted, found.lost)
	switch {
	case variant == realDispatcher && len(w.receipts.violations) > 0:
		return fmt.Errorf("%w: %v", errViolated, w.receipts.violations)
	case variant != realDispatcher && found.lost == 0:
		return fmt.Errorf("it was not caught: nothing is lost of %d changes", found.accepted)
	}
	return nil
}

// runFewFaults runs a handful of faults in immediate succession.
func (w *world) runFewFaults(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(w.o.seed, 0)) //nolint:gosec // repeatable on purpose
	var list []point
	for _, p := range points {
		switch p.name {
		case "relay.committed", postUnderWay, "worker.loaded", "worker.answered":
			list = append(list, p)
		}
	}
	return errors.Join(
		pause(ctx, time.Second),
		withResponses(ctx, w, "steady", broken, 2*time.Second), // leads to retries, which …
		w.redis.FlushAll(ctx).Err(),                            // … a variant loses together with Redis's data
		w.storm(ctx, w.deal(list), dice),
		pause(ctx, time.Second),
		w.awaitNodes(ctx),
	)
}
