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

// variant is the service, or the service with a deliberate mistake: a proxy rewrites SQL on the way to Postgres.
type variant struct {
	name string
	// Rewritings of the dispatchers' SQL; nil: no mistake.
	rules []rewriting
}

// rewriting replaces the text old in the SQL statements that contain the text in.
type rewriting struct{ in, old, replacement string }

// sound is the service without a mistake, which must not lose a delivery.
var sound = variant{name: "the service"}

// variants lists broken versions of the service that lose deliveries. The suite must catch each.
var variants = []variant{
	{name: "broken_mark_before_send", rules: []rewriting{
		// The mistake: a delivery is stored as received before it was sent.
		{"CASE WHEN n.state = 1", "INTO deliveries (id,", "INTO deliveries (taken_at, finished_at, id,"},
		{"CASE WHEN n.state = 1", "SELECT n.id,", `SELECT CASE WHEN n.state = 1 THEN now() END,
			CASE WHEN n.state = 1 THEN now() END, n.id,`},
		{"CASE WHEN n.state = 1", "n.state, n.state,", "CASE n.state WHEN 1 THEN 2 ELSE n.state END, n.state,"},
		{"CASE WHEN n.state = 1", "seq, event_at, state",
			"seq, event_at, CASE state WHEN 2 THEN 1::smallint ELSE state END"},
	}},
	{name: "broken_no_scan", rules: []rewriting{
		// The mistake: due deliveries and those with an ended reservation are not found.
		{"RECURSIVE waiting(id)", "WHERE s.enabled", "WHERE false AND s.enabled"},
		{"FROM deliveries", "state = 1 AND due_at <= now()", "false"},
	}},
}

// feedVariants lists broken versions of the service that lose or repeat events of a feed, or show them in a wrong
// order (ADR 0016).
var feedVariants = []variant{
	{name: "broken_feed_unlocked", rules: []rewriting{
		// The mistake: two dispatchers assign the same sequence numbers to events.
		{"FROM event_feeds", "FOR NO KEY UPDATE SKIP LOCKED", ""},
	}},
	// The mistake: events are numbered by id, although ids are made before the deposit is locked.
	{name: "broken_feed_by_id", rules: []rewriting{
		{"DELETE FROM outbox", "ORDER BY position, event_id", "ORDER BY event_id"},
		{"DELETE FROM outbox", "committed_at, position,", "committed_at, 0::bigint,"},
	}},
}

// rewrite changes an SQL statement by the fitting rules of the broken variant.
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

// tryAll returns an error unless the suite finds each broken variant's mistake, and no violation of the sound
// service. try returns how many violations it found.
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

// runVariants runs all broken variants through a few faults at the same time. dir holds the built commands.
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

// fewFaults is an act that causes a handful of faults in succession.
var fewFaults = steps(
	wait(second, second+ms),
	// Error answers make the service send deliveries again later.
	responding("steady", fails), wait(2*second, 2*second+ms),
	responding("steady", ""),
	// With Redis empty, a broken variant loses the deliveries that wait for another attempt.
	flush,
	func(ctx context.Context, w *suite, dice *rand.Rand) error {
		return w.storm(ctx, []point{{name: "relay.committed", upTo: 5}, {name: "worker.loaded", upTo: 10},
			{name: "worker.answered", upTo: 10}}, dice)
	},
	func(ctx context.Context, w *suite, _ *rand.Rand) error { return w.awaitNodes(ctx) },
)

// tryFeed disturbs the event feeds of a variant until its mistake is caught, and those of the sound service a few
// times.
func tryFeed(ctx context.Context, w *suite) (caught int, err error) {
	most := 12
	if w.variant.rules == nil {
		most = 2
	} else {
		// A reader of the feed that a mistake has stopped does not go on, so the deadline is short.
		w.o.deadline = 5 * time.Second * w.o.slack()
	}
	w.load.start(w.o.rate)
	for _, f := range w.followers {
		f.mu.Lock()
		// The readers of the feed never wait, so that they see every state between two numberings.
		f.waits = []int{0}
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
