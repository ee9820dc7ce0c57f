package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/world"
)

// act is a step of a fault. An act ends after its disturbance.
type act func(ctx context.Context, w *suite, dice *rand.Rand) error

// steps runs acts in turn, also after an error: a later act heals an earlier disturbance.
func steps(acts ...act) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) (err error) {
		for _, do := range acts {
			err = errors.Join(err, do(ctx, w, dice))
		}
		return err
	}
}

// inTurn takes steps until one fails.
func inTurn(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// thrice repeats an act.
func thrice(do act) act { return steps(do, do, do) }

// wait keeps a disturbance going for a time drawn from [from, to).
func wait(from, to time.Duration) act {
	return func(ctx context.Context, _ *suite, dice *rand.Rand) error {
		return world.Pause(ctx, between(dice, from, to))
	}
}

func between(dice *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(dice.Int64N(int64(to-from)))
}

// poll asks now and then until an answer is true, for limit at most.
func poll(ctx context.Context, every, limit time.Duration, holds func() (bool, error)) (ok bool, err error) {
	for end := time.Now().Add(limit); ; {
		if ok, err = holds(); ok || err != nil || time.Now().After(end) {
			return ok, err
		}
		if err := world.Pause(ctx, every); err != nil {
			return false, err
		}
	}
}

// group chooses the nodes that an act concerns.
type group func(w *suite, dice *rand.Rand) []*node

func allHTTP(w *suite, _ *rand.Rand) []*node        { return w.https }
func allDispatchers(w *suite, _ *rand.Rand) []*node { return w.dispatchers }
func lastDispatcher(w *suite, _ *rand.Rand) []*node { return w.dispatchers[len(w.dispatchers)-1:] }
func everyNode(w *suite, _ *rand.Rand) []*node      { return w.nodes() }

func one(of group) group {
	return func(w *suite, dice *rand.Rand) []*node {
		all := of(w, dice)
		return []*node{all[dice.IntN(len(all))]}
	}
}

// nodeAct does something to a node.
type nodeAct func(n *node, ctx context.Context) error

// on does something to all nodes of a group at once.
func on(of group, do nodeAct) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error { return each(ctx, of(w, dice), do) }
}

func each(ctx context.Context, nodes []*node, do nodeAct) error {
	var group errgroup.Group
	for _, n := range nodes {
		group.Go(func() error { return do(n, ctx) })
	}
	return group.Wait()
}

// freeze suspends a process for a while. Deliveries in flight at that moment may be sent twice.
func freeze(of group, from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		n := of(w, dice)[0]
		if err := w.noteInFlight(ctx, n); err != nil {
			return err
		}
		n.Process().Signal(syscall.SIGSTOP)
		defer n.Process().Signal(syscall.SIGCONT)
		return world.Pause(ctx, between(dice, from, to))
	}
}

// toPostgres and toRedis choose a link of a node.
func toPostgres(n *node) *pgproxy.Link { return n.pg }
func toRedis(n *node) *pgproxy.Link    { return n.redis }

// disturbed disturbs a link of each node of a group, during an act.
func disturbed(of group, which func(*node) *pgproxy.Link, disturb func(*pgproxy.Link), during act) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		for _, n := range of(w, dice) {
			link := which(n)
			defer link.Heal()
			disturb(link)
		}
		return during(ctx, w, dice)
	}
}

// with begins a fault of a link.
func with(f pgproxy.Fault) func(*pgproxy.Link) { return func(l *pgproxy.Link) { l.Disturb(f) } }

// note records the deliveries in flight: the disturbance that follows may lead to second copies of them.
func note(ctx context.Context, w *suite, _ *rand.Rand) error { return w.noteInFlight(ctx, nil) }

// server chooses a store.
type server func(w *suite) *backing.Server

func postgres(w *suite) *backing.Server { return w.services.Postgres }
func redis(w *suite) *backing.Server    { return w.services.Redis }

func stops(s *backing.Server) error { return s.Stop(true) }

// away takes a server away for a while. It comes back with its data.
func away(of server, by func(*backing.Server) error, from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		return errors.Join(by(of(w)), world.Pause(ctx, between(dice, from, to)), of(w).Restart(ctx))
	}
}

// frozen suspends a server for a while.
func frozen(of server, from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		return errors.Join(of(w).Pause(), world.Pause(ctx, between(dice, from, to)), of(w).Resume())
	}
}

// flush empties Redis.
func flush(ctx context.Context, w *suite, _ *rand.Rand) error { return w.redis.FlushAll(ctx).Err() }

// statement runs a repeatable statement until it succeeds.
func statement(sql string) act {
	return func(ctx context.Context, w *suite, _ *rand.Rand) error {
		_, err := query(ctx, w, pgx.RowToMap, sql)
		return err
	}
}

// responding makes the endpoints of a partner behave in a way; partner "" means all, and b "" as usual.
func responding(partner string, b behaviour) act {
	return func(_ context.Context, w *suite, _ *rand.Rand) error {
		for _, e := range w.receivers.all() {
			if partner == "" || e.owner.Name == partner {
				e.mu.Lock()
				e.override = b
				e.mu.Unlock()
			}
		}
		return nil
	}
}

// changing does something to the endpoint of the partner of that name.
func changing(do func(w *suite, ctx context.Context, e *endpoint) error) act {
	return func(ctx context.Context, w *suite, _ *rand.Rand) error {
		return do(w, ctx, w.receivers.of("changing")[0])
	}
}
