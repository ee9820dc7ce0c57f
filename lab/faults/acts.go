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

// act is a step of a simulated failure, which returns after its disturbance is over.
type act func(ctx context.Context, w *suite, dice *rand.Rand) error

// steps runs acts one after the other, even after an error, since a later act ends an earlier disturbance.
func steps(acts ...act) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) (err error) {
		for _, do := range acts {
			err = errors.Join(err, do(ctx, w, dice))
		}
		return err
	}
}

// inTurn calls functions one after the other until the first error.
func inTurn(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func thrice(do act) act { return steps(do, do, do) }

// wait does nothing for a random time in [from, to), so that a disturbance lasts.
func wait(from, to time.Duration) act {
	return func(ctx context.Context, _ *suite, dice *rand.Rand) error {
		return world.Sleep(ctx, between(dice, from, to))
	}
}

func between(dice *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(dice.Int64N(int64(to-from)))
}

// poll checks a condition at intervals for at most limit. ok reports whether it held.
func poll(ctx context.Context, every, limit time.Duration, holds func() (bool, error)) (ok bool, err error) {
	for end := time.Now().Add(limit); ; {
		if ok, err = holds(); ok || err != nil || time.Now().After(end) {
			return ok, err
		}
		if err := world.Sleep(ctx, every); err != nil {
			return false, err
		}
	}
}

// group chooses the processes of the service that an act concerns.
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

// nodeAct does something to a process of the service, such as killing it.
type nodeAct func(n *node, ctx context.Context) error

// on does something to all processes of a group at the same time.
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

// freeze suspends a process of the service for a random time. Deliveries then in flight may be sent twice.
func freeze(of group, from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		n := of(w, dice)[0]
		if err := w.noteInFlight(ctx, n); err != nil {
			return err
		}
		n.Process().Signal(syscall.SIGSTOP)
		defer n.Process().Signal(syscall.SIGCONT)
		return world.Sleep(ctx, between(dice, from, to))
	}
}

// toPostgres and toRedis return a process's proxied connections, which a fault can disturb.
func toPostgres(n *node) *pgproxy.TCPProxy { return n.pg }
func toRedis(n *node) *pgproxy.TCPProxy    { return n.redis }

// disturbed runs an act while the connections of a group's processes are disturbed, then heals them.
func disturbed(of group, which func(*node) *pgproxy.TCPProxy, disturb func(*pgproxy.TCPProxy), during act) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		for _, n := range of(w, dice) {
			link := which(n)
			defer link.EndFault()
			disturb(link)
		}
		return during(ctx, w, dice)
	}
}

// with begins a fault, such as delay or loss of data, on a proxied connection.
func with(f pgproxy.Fault) func(*pgproxy.TCPProxy) {
	return func(l *pgproxy.TCPProxy) { l.StartFault(f) }
}

// note records the deliveries in flight, of which the disturbance that follows may cause second copies.
func note(ctx context.Context, w *suite, _ *rand.Rand) error { return w.noteInFlight(ctx, nil) }

// server returns Postgres or Redis, so that a fault can name the store.
type server func(w *suite) *backing.Server

func postgres(w *suite) *backing.Server { return w.services.Postgres }
func redis(w *suite) *backing.Server    { return w.services.Redis }

func stops(s *backing.Server) error { return s.Stop(true) }

// away ends Postgres or Redis, and restarts it with its data after a random time.
func away(of server, by func(*backing.Server) error, from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		return errors.Join(by(of(w)), world.Sleep(ctx, between(dice, from, to)), of(w).Restart(ctx))
	}
}

// frozen suspends Postgres or Redis for a random time.
func frozen(of server, from, to time.Duration) act {
	return func(ctx context.Context, w *suite, dice *rand.Rand) error {
		return errors.Join(of(w).Pause(), world.Sleep(ctx, between(dice, from, to)), of(w).Resume())
	}
}

// flush is an act that deletes all data in Redis.
func flush(ctx context.Context, w *suite, _ *rand.Rand) error { return w.redis.FlushAll(ctx).Err() }

// statement repeats an SQL statement, which must allow repetition, until it succeeds.
func statement(sql string) act {
	return func(ctx context.Context, w *suite, _ *rand.Rand) error {
		_, err := query(ctx, w, pgx.RowToMap, sql)
		return err
	}
}

// responding makes the webhook endpoints of a partner answer in the given way. partner "" means all, behaviour ""
// the usual way.
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

// changing does something to the endpoint of the partner named "changing".
func changing(do func(w *suite, ctx context.Context, e *endpoint) error) act {
	return func(ctx context.Context, w *suite, _ *rand.Rand) error {
		return do(w, ctx, w.receivers.of("changing")[0])
	}
}
