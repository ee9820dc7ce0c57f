package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"partnerdeposits/lab/procs"
)

// variant is the service, or the service with a mistake in one of its commands.
type variant struct {
	tag     string // build tag of the mistake; "": none
	command string // that has the mistake
}

// sound meets the same faults as the variants and must not lose anything.
var sound = variant{}

// variants lose deliveries (cmd/wire/broken.go).
var variants = []variant{
	{"broken_mark_before_send", "dispatcher"}, {"broken_no_scan", "dispatcher"}, {"broken_asynq_retries", "dispatcher"},
}

// feedVariants lose or repeat events of a feed, or show them in a wrong order (ADR 0016).
var feedVariants = []variant{
	{"broken_feed_unlocked", "dispatcher"}, {"broken_feed_by_id", "dispatcher"}, {"broken_feed_reader", "http"},
}

func (v variant) String() string {
	if v.tag == "" {
		return "the service"
	}
	return v.tag
}

// commands gives the paths of the commands in dir.
func (v variant) commands(dir string) map[string]string {
	paths := map[string]string{}
	for _, command := range []string{"http", "dispatcher", "admin"} {
		paths[command] = filepath.Join(dir, command)
	}
	if v.tag != "" {
		paths[v.command] = filepath.Join(dir, v.tag)
	}
	return paths
}

// build compiles http, dispatcher and admin into dir. Of a broken variant build compiles a single command, with the build tag of the mistake.
func (v variant) build(ctx context.Context, o options, dir string) error {
	b := procs.Build{Tags: []string{"failpoints"}, Race: o.race}
	if v.tag == "" {
		return b.Into(ctx, dir+string(filepath.Separator), "http", "dispatcher", "admin")
	}
	b.Tags = append(b.Tags, v.tag)
	return b.Into(ctx, filepath.Join(dir, v.tag), v.command)
}

// buildAll builds the service and its variants.
func buildAll(ctx context.Context, o options, dir string, all []variant) error {
	for _, v := range append([]variant{sound}, all...) {
		if err := v.build(ctx, o, dir); err != nil {
			return err
		}
	}
	return nil
}

// runVariants runs every variant through a few faults, all at the same time, each in a world of its own. dir has the commands.
func runVariants(ctx context.Context, o options, dir string) error {
	var group sync.WaitGroup
	errs := make([]error, 1+len(variants))
	for i, v := range append([]variant{sound}, variants...) {
		group.Go(func() {
			if errs[i] = try(ctx, o, dir, v); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", v, errs[i])
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func try(ctx context.Context, o options, dir string, v variant) error {
	say := o.logf
	o.logf, o.nodes = func(string, ...any) {}, 1
	o.deadline = o.timeout + 20*time.Second + 10*time.Second*o.slack()
	w, err := newWorld(ctx, o, dir, v)
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
	say("%-24s %5d accepted, %4d lost", v, found.accepted, found.lost)
	switch {
	case v == sound && len(w.receipts.violations) > 0:
		return fmt.Errorf("%w: %v", errViolated, w.receipts.violations)
	case v != sound && found.lost == 0:
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

// runFeedVariants runs every variant of the feed through the faults of relays, one after another. dir has the commands.
func runFeedVariants(ctx context.Context, o options, dir string) error {
	var errs []error
	for _, v := range append([]variant{sound}, feedVariants...) {
		if err := tryFeed(ctx, o, dir, v); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", v, err))
		}
	}
	return errors.Join(errs...)
}

// Disturbances of the feed: a variant gets them until it is caught, and the service a few times.
const (
	mostScenes  = 12
	soundScenes = 2
)

func tryFeed(ctx context.Context, o options, dir string, v variant) error {
	say := o.logf
	o.logf = func(string, ...any) {}
	w, err := newWorld(ctx, o, dir, v)
	if err != nil {
		return err
	}
	defer w.close()
	w.load.start(o.rate)
	for _, f := range w.followers.all {
		f.change(func() { f.waits = []int{0} }) // they see every state between two relays
	}
	if v != sound {
		w.o.deadline = 5 * time.Second * o.slack() // a follower that a mistake has stopped stays where it is
	}
	dice := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // repeatable on purpose
	wrong := func() int { return w.receipts.count("feed") + w.receipts.count("feed order") }
	for scene := 0; scene < mostScenes && wrong() == 0 && (v != sound || scene < soundScenes); scene++ {
		if err := w.runFeedFaults(ctx, dice); err != nil {
			return err
		}
	}
	found := tally{followed: w.followers.fed(), accepted: int(w.load.accepted.Load())}
	if v == sound {
		if found, err = w.settle(ctx); err != nil {
			return err
		}
	}
	say("%-24s %5d accepted, %5d followed, %d times wrong: %.200q", v, found.accepted, found.followed, wrong(), w.receipts.first("feed", "feed order"))
	switch {
	case v == sound && len(w.receipts.violations) > 0:
		return fmt.Errorf("%w: %v", errViolated, w.receipts.violations)
	case v != sound && wrong() == 0:
		return fmt.Errorf("it was not caught in %d changes", found.accepted)
	}
	return nil
}

// runFeedFaults runs the faults of the feed that take seconds.
func (w *world) runFeedFaults(ctx context.Context, dice *rand.Rand) error {
	for _, kind := range feedKinds {
		if kind.long {
			continue
		}
		if err := kind.do(ctx, w, dice); err != nil {
			return err
		}
	}
	return w.awaitFed(ctx)
}
