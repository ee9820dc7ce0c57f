package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"partnerdeposits/lab/hostiletest"
	"partnerdeposits/lab/procs"
)

// variant is the service, or the service with a mistake in one of its commands.
type variant struct {
	name    string                          // "": no mistake
	args    []string                        // of lab/faults/dispatcher, which makes the mistake
	command string                          // whose statements are rewritten
	rules   []rewriting                     // of the statements
	stripe  func(http.Handler) http.Handler // changes the requests to the provider; nil: none
	notices func(*moneyRun, []byte) bool    // answers the provider's notices in place of http; nil: none
}

// sound meets the same faults as the variants and must not lose anything.
var sound = variant{}

// variants lose deliveries.
var variants = []variant{
	{name: "broken_mark_before_send", args: []string{"broken_mark_before_send"}},
	{name: "broken_no_scan", args: []string{"broken_no_scan"}},
	{name: "broken_asynq_retries", args: []string{"broken_asynq_retries"}},
}

// feedVariants lose or repeat events of a feed, or show them in a wrong order (ADR 0016).
var feedVariants = []variant{
	{name: "broken_feed_unlocked", command: "dispatcher", rules: []rewriting{
		// two relays that read a counter at once give the same numbers
		{"FROM event_feeds", "FOR NO KEY UPDATE SKIP LOCKED", ""},
	}},
	// ids are made before the lock of the deposit
	{name: "broken_feed_by_id", command: "dispatcher", rules: []rewriting{
		{"DELETE FROM outbox", "ORDER BY position, event_id", "ORDER BY event_id"},
		{"DELETE FROM outbox", "committed_at, position,", "committed_at, 0::bigint,"},
	}},
	// numbers the outbox behind the events that have a number
	{name: "broken_feed_reader", command: "http", rules: []rewriting{
		{"restore_epoch", "f.last_sequence FROM",
			"f.last_sequence + (SELECT count(*) FROM outbox WHERE partner_id = $1) FROM"},
		{"partner_id = ANY ($1)", "SELECT partner_id, last_sequence FROM event_feeds",
			`SELECT partner_id, last_sequence + (SELECT count(*) FROM outbox o WHERE o.partner_id = f.partner_id)
				FROM event_feeds f`},
		{"ORDER BY sequence LIMIT", "FROM events WHERE", `FROM (
			SELECT id, partner_id, name, deposit_id, data, created_at, sequence FROM events WHERE partner_id = $1
			UNION ALL SELECT event_id, partner_id, name, deposit_id, data, created_at,
				row_number() OVER (ORDER BY position) + (SELECT last_sequence FROM event_feeds WHERE partner_id = $1)
			FROM outbox WHERE partner_id = $1) AS events WHERE`},
	}},
}

func (v variant) String() string {
	if v.name == "" {
		return "the service"
	}
	return v.name
}

func (v variant) isSound() bool { return v.name == "" }

// postgres is the address at which a command finds Postgres.
func (v variant) postgres(t hostiletest.TB, command, upstream string) string {
	if v.command != command {
		return upstream
	}
	return rewrite(t, upstream, v.rules)
}

// build compiles the commands of the service and of the suite into dir.
func build(ctx context.Context, o options, dir string) error {
	b := procs.Build{Tags: []string{"failpoints"}, Race: o.race}
	return b.Into(ctx, dir+string(filepath.Separator), "lab/faults/http", "lab/faults/dispatcher", "cmd/admin")
}

// trials tries variants, some at a time.
func trials(all []variant, atOnce int, try func(v variant) error) error {
	errs, slots := make([]error, len(all)), make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for i, v := range all {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := try(v); err != nil {
				errs[i] = fmt.Errorf("%s: %w", v, err)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// verdict demands that a variant is caught, and that the service violates nothing.
func (w *suite) verdict(caught, changes int) error {
	switch {
	case !w.variant.isSound() && caught == 0:
		return fmt.Errorf("it was not caught in %d changes", changes)
	case w.variant.isSound() && len(w.receipts.violations) > 0:
		return fmt.Errorf("%w: %v", errViolated, w.receipts.violations)
	}
	return nil
}

// runVariants runs every variant through a few faults, all at the same time, each in a suite of its own. dir has the
// commands.
func runVariants(ctx context.Context, o options, dir string) error {
	all := append([]variant{sound}, variants...)
	return trials(all, len(all), func(v variant) error { return try(ctx, o, dir, v) })
}

func try(ctx context.Context, o options, dir string, v variant) error {
	say := o.logf
	o.logf, o.nodes = func(string, ...any) {}, 1
	o.deadline = o.timeout + 20*time.Second + 10*time.Second*o.slack()
	w, err := newSuite(ctx, o, dir, v)
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
	return w.verdict(found.lost, found.accepted)
}

// runFewFaults runs a handful of faults in immediate succession.
func (w *suite) runFewFaults(ctx context.Context) error {
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
		responding("steady", fails)(ctx, w, dice), // leads to retries, which …
		pause(ctx, 2*time.Second),
		responding("steady", "")(ctx, w, dice),
		w.redis.FlushAll(ctx).Err(), // … a variant loses together with Redis's data
		w.storm(ctx, w.deal(list), dice),
		pause(ctx, time.Second),
		w.awaitNodes(ctx),
	)
}

// runFeedVariants runs every variant of the feed through the faults of relays, one after another. dir has the commands.
func runFeedVariants(ctx context.Context, o options, dir string) error {
	return trials(append([]variant{sound}, feedVariants...), 1,
		func(v variant) error { return tryFeed(ctx, o, dir, v) })
}

// Disturbances of the feed: a variant gets them until it is caught, and the service a few times.
const (
	mostScenes  = 12
	soundScenes = 2
)

func tryFeed(ctx context.Context, o options, dir string, v variant) error {
	say := o.logf
	o.logf = func(string, ...any) {}
	w, err := newSuite(ctx, o, dir, v)
	if err != nil {
		return err
	}
	defer w.close()
	w.load.start(o.rate)
	for _, f := range w.followers.all {
		f.change(func() { f.waits = []int{0} }) // they see every state between two relays
	}
	if !v.isSound() {
		w.o.deadline = 5 * time.Second * o.slack() // a follower that a mistake has stopped stays where it is
	}
	dice := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // repeatable on purpose
	wrong := func() int { return w.receipts.count("feed") + w.receipts.count("feed order") }
	for scene := 0; scene < mostScenes && wrong() == 0 && (!v.isSound() || scene < soundScenes); scene++ {
		if err := w.runFeedFaults(ctx, dice); err != nil {
			return err
		}
	}
	found := tally{followed: w.followers.fed(), accepted: int(w.load.accepted.Load())}
	if v.isSound() {
		if found, err = w.settle(ctx); err != nil {
			return err
		}
	}
	say("%-24s %5d accepted, %5d followed, %d times wrong: %.200q", v, found.accepted, found.followed, wrong(),
		w.receipts.first("feed", "feed order"))
	return w.verdict(wrong(), found.accepted)
}

// runFeedFaults runs the faults of the feed that take seconds.
func (w *suite) runFeedFaults(ctx context.Context, dice *rand.Rand) error {
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
