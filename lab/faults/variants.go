package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/sync/errgroup"
)

// variant is the service, or the service with a mistake: other statements reach Postgres than those of its code.
type variant struct {
	name  string
	rules []rewriting // of the statements of dispatchers; nil: no mistake
}

// rewriting replaces a part of the statements that contain in.
type rewriting struct{ in, old, replacement string }

// sound meets the same faults as the variants and must not lose anything.
var sound = variant{name: "the service"}

// variants lose deliveries.
var variants = []variant{
	{name: "broken_mark_before_send", rules: []rewriting{
		// the relay stores a delivery as taken, and hands it to a worker all the same
		{"CASE WHEN n.state = 1", "INTO deliveries (id,", "INTO deliveries (taken_at, finished_at, id,"},
		{"CASE WHEN n.state = 1", "SELECT n.id,", `SELECT CASE WHEN n.state = 1 THEN now() END,
			CASE WHEN n.state = 1 THEN now() END, n.id,`},
		{"CASE WHEN n.state = 1", "n.state, n.state,", "CASE n.state WHEN 1 THEN 2 ELSE n.state END, n.state,"},
		{"CASE WHEN n.state = 1", "seq, event_at, state",
			"seq, event_at, CASE state WHEN 2 THEN 1::smallint ELSE state END"},
	}},
	{name: "broken_no_scan", rules: []rewriting{
		// neither due deliveries nor ended leases are found
		{"RECURSIVE waiting(id)", "WHERE s.enabled", "WHERE false AND s.enabled"},
		{"FROM deliveries", "state = 1 AND due_at <= now()", "false"},
	}},
}

// feedVariants lose or repeat events of a feed, or show them in a wrong order (ADR 0016).
var feedVariants = []variant{
	{name: "broken_feed_unlocked", rules: []rewriting{
		// two relays that read a counter at once give the same numbers
		{"FROM event_feeds", "FOR NO KEY UPDATE SKIP LOCKED", ""},
	}},
	// ids are made before the lock of the deposit
	{name: "broken_feed_by_id", rules: []rewriting{
		{"DELETE FROM outbox", "ORDER BY position, event_id", "ORDER BY event_id"},
		{"DELETE FROM outbox", "committed_at, position,", "committed_at, 0::bigint,"},
	}},
}

// rewrite changes a message by the rules that fit its statement.
func (v variant) rewrite(message pgproto3.FrontendMessage) {
	parse, ok := message.(*pgproto3.Parse)
	if !ok {
		return
	}
	for _, r := range v.rules {
		if strings.Contains(parse.Query, r.in) {
			parse.Query = strings.ReplaceAll(parse.Query, r.old, r.replacement)
		}
	}
}

// tryAll demands that each variant is caught, and that the service violates nothing. try counts the mistakes it found.
func tryAll(ctx context.Context, o options, dir string, broken []variant, atOnce int,
	try func(ctx context.Context, w *suite) (caught int, err error)) error {
	say := o.logf
	o.logf = func(string, ...any) {}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, v := range append([]variant{sound}, broken...) {
		group.Go(func() error {
			return inSuite(ctx, o, dir, v, func(w *suite) error {
				caught, err := try(ctx, w)
				say("%-24s %5d accepted, wrong: %.200v", v.name, w.load.accepted.Load(), w.receipts)
				switch {
				case err != nil:
					return fmt.Errorf("%s: %w", v.name, err)
				case v.rules == nil:
					return w.violated()
				case caught == 0:
					return fmt.Errorf("%s was not caught", v.name)
				}
				return nil
			})
		})
	}
	return group.Wait()
}

// runVariants runs every variant through a few faults, all at the same time. dir has the commands.
func runVariants(ctx context.Context, o options, dir string) error {
	o.nodes = 1
	o.deadline = lease + 10*time.Second*o.slack()
	return tryAll(ctx, o, dir, variants, len(variants)+1, func(ctx context.Context, w *suite) (int, error) {
		w.load.start(o.rate)
		dice := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // repeatable on purpose
		if err := fewFaults(ctx, w, dice); err != nil {
			return 0, err
		}
		found, err := w.settle(ctx)
		return found.lost, err
	})
}

// fewFaults are a handful of faults in immediate succession.
var fewFaults = steps(
	wait(second, second+ms),
	responding("steady", fails), // leads to retries, which …
	wait(2*second, 2*second+ms),
	responding("steady", ""),
	flush, // … a variant loses together with Redis's data
	func(ctx context.Context, w *suite, dice *rand.Rand) error {
		return w.storm(ctx, []point{{name: "relay.committed", upTo: 5}, {name: "worker.loaded", upTo: 10},
			{name: "worker.answered", upTo: 10}}, dice)
	},
	func(ctx context.Context, w *suite, _ *rand.Rand) error { return w.awaitNodes(ctx) },
)

// tryFeed disturbs the feeds of a variant until it is caught, and those of the service a few times.
func tryFeed(ctx context.Context, w *suite) (caught int, err error) {
	most := 12
	if w.variant.rules == nil {
		most = 2
	} else {
		w.o.deadline = 5 * time.Second * w.o.slack() // a follower that a mistake has stopped stays where it is
	}
	w.load.start(w.o.rate)
	for _, f := range w.followers {
		f.mu.Lock()
		f.waits = []int{0} // they see every state between two relays
		f.mu.Unlock()
	}
	dice := rand.New(rand.NewPCG(w.o.seed, 0)) //nolint:gosec // repeatable on purpose
	for scene := 0; scene < most && w.receipts.feedErrors() == 0; scene++ {
		for _, kind := range feedKinds {
			if kind.long {
				continue
			}
			if err := kind.do(ctx, w, dice); err != nil {
				return 0, err
			}
		}
		if err := w.awaitFed(ctx); err != nil {
			return 0, err
		}
	}
	if w.variant.rules == nil {
		_, err = w.settle(ctx)
	}
	return w.receipts.feedErrors(), err
}
