package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/sync/errgroup"

	"partnerdeposits/lab/hostiletest"
	"partnerdeposits/lab/pgproxy"
)

// variant is the service, or the service with a mistake in one of its commands.
type variant struct {
	name    string                          // "": no mistake
	args    []string                        // of lab/faults/dispatcher, which makes the mistake
	command string                          // whose statements are rewritten
	rules   []rewriting                     // of the statements
	stripe  func(http.Handler) http.Handler // changes the requests to the provider; nil: none
	notices func(*suite, []byte) bool       // answers the provider's notices in place of http; nil: none
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
	return pgproxy.Serve(t, upstream, func(m pgproto3.FrontendMessage) { rewrite(m, v.rules) })
}

// trial disturbs the suite of a variant, and gives the number of mistakes that it found, and a line about them.
type trial func(ctx context.Context, w *suite) (caught int, line string, err error)

// tryAll tries variants, some at a time. It demands that each is caught, and that the service violates nothing.
func tryAll(ctx context.Context, o options, dir string, all []variant, atOnce int, try trial) error {
	say := o.logf
	o.logf = func(string, ...any) {}
	errs := make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, v := range all {
		group.Go(func() error {
			err := inSuite(ctx, o, dir, v, func(w *suite) error {
				caught, line, err := try(ctx, w)
				say("%-24s %s", v, line)
				switch {
				case err != nil:
					return err
				case v.isSound():
					return w.violated()
				case caught == 0:
					return fmt.Errorf("it was not caught: %s", line)
				}
				return nil
			})
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", v, err)
			}
			return nil
		})
	}
	_ = group.Wait() // errs tell
	return errors.Join(errs...)
}

// runVariants runs every variant through a few faults, all at the same time. dir has the commands.
func runVariants(ctx context.Context, o options, dir string) error {
	o.nodes = 1
	o.deadline = o.timeout + 20*time.Second + 10*time.Second*o.slack()
	all := append([]variant{sound}, variants...)
	return tryAll(ctx, o, dir, all, len(all), func(ctx context.Context, w *suite) (int, string, error) {
		w.load.start(o.rate)
		dice := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // repeatable on purpose
		if err := fewFaults(ctx, w, dice); err != nil {
			return 0, "", err
		}
		found, err := w.settle(ctx)
		return found.lost, fmt.Sprintf("%5d accepted, %4d lost", found.accepted, found.lost), err
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
		some := []string{"relay.committed", postUnderWay, "worker.loaded", "worker.answered"}
		return w.storm(ctx, slices.DeleteFunc(slices.Clone(points), func(p point) bool {
			return !slices.Contains(some, p.name)
		}), dice)
	},
	wait(second, second+ms),
	func(ctx context.Context, w *suite, _ *rand.Rand) error { return w.awaitNodes(ctx) },
)

// runFeedVariants runs every variant of the feed through the faults of relays, one after another. dir has the commands.
func runFeedVariants(ctx context.Context, o options, dir string) error {
	return tryAll(ctx, o, dir, append([]variant{sound}, feedVariants...), 1, tryFeed)
}

// tryFeed disturbs the feeds of a variant until it is caught, and those of the service a few times.
func tryFeed(ctx context.Context, w *suite) (caught int, line string, err error) {
	const most, ofSound = 12, 2
	w.load.start(w.o.rate)
	for _, f := range w.followers {
		f.change(func() { f.waits = []int{0} }) // they see every state between two relays
	}
	if !w.variant.isSound() {
		w.o.deadline = 5 * time.Second * w.o.slack() // a follower that a mistake has stopped stays where it is
	}
	dice := rand.New(rand.NewPCG(w.o.seed, 0)) //nolint:gosec // repeatable on purpose
	wrong := func() int { return w.receipts.count("feed") + w.receipts.count("feed order") }
	for scene := 0; scene < most && wrong() == 0 && (!w.variant.isSound() || scene < ofSound); scene++ {
		for _, kind := range feedKinds {
			if kind.long {
				continue
			}
			if err := kind.do(ctx, w, dice); err != nil {
				return 0, "", err
			}
		}
		if err := w.awaitFed(ctx); err != nil {
			return 0, "", err
		}
	}
	followed := w.fed()
	if w.variant.isSound() {
		_, err = w.settle(ctx)
	}
	return wrong(), fmt.Sprintf("%5d accepted, %5d followed, %d times wrong: %.200q", w.load.accepted.Load(), followed,
		wrong(), w.receipts.first("feed", "feed order")), err
}
