package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// fault disturbs the service. do returns after the disturbance has ended and every process runs again.
type fault struct {
	name string
	do   func(ctx context.Context, w *world, dice *rand.Rand) error

	redisOnly bool // disturbs only Redis: no delivery may be sent twice
	long      bool // takes longer than a short run lasts
	kills     bool // kills a dispatcher: its claims wait for the end of their leases
	measured  bool // deliveries must continue during the fault, within a latency bound
	flushes   bool // Redis loses its data, and the dispatchers notice
}

// between draws a duration from [from, to).
func between(dice *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(dice.Int64N(int64(to-from)))
}

// pause keeps a disturbance going for a while.
func pause(ctx context.Context, span time.Duration) error {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func pick(dice *rand.Rand, nodes []*node) *node { return nodes[dice.IntN(len(nodes))] }

// kinds are all faults except the kills at failpoints.
var kinds = []fault{
	{name: "kill -9 of a dispatcher", kills: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		n := pick(dice, w.dispatchers)
		return errors.Join(n.kill(ctx), n.start(ctx, true))
	}},
	{name: "kill -9 of all dispatchers", kills: true, do: func(ctx context.Context, w *world, _ *rand.Rand) error {
		return each(w.dispatchers, func(n *node) error { return errors.Join(n.kill(ctx), n.start(ctx, true)) })
	}},
	{name: "kill -9 of http", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		n := pick(dice, w.https)
		return errors.Join(n.kill(ctx), n.start(ctx, true))
	}},
	{name: "kill -9 of everything of ours", kills: true, do: func(ctx context.Context, w *world, _ *rand.Rand) error {
		return each(w.nodes(), func(n *node) error { return errors.Join(n.kill(ctx), n.start(ctx, true)) })
	}},
	{name: "SIGSTOP of a dispatcher for a moment", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return freeze(ctx, w, pick(dice, w.dispatchers), between(dice, 500*time.Millisecond, 4*time.Second))
	}},
	{name: "SIGSTOP of a dispatcher beyond its leases", long: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return freeze(ctx, w, pick(dice, w.dispatchers), w.lease()+between(dice, time.Second, 4*time.Second))
	}},
	{name: "SIGSTOP of http", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return freeze(ctx, w, pick(dice, w.https), between(dice, 500*time.Millisecond, 3*time.Second))
	}},
	{name: "rolling restart", do: func(ctx context.Context, w *world, _ *rand.Rand) error {
		for _, n := range w.nodes() {
			if err := n.restart(ctx); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "one dispatcher for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		n := pick(dice, w.dispatchers)
		return errors.Join(n.stop(), pause(ctx, between(dice, time.Second, 4*time.Second)), n.start(ctx, true))
	}},
	{name: "a third dispatcher for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return errors.Join(w.spare.start(ctx, true), pause(ctx, between(dice, time.Second, 4*time.Second)), w.spare.stop())
	}},
	{name: "no dispatcher for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		err := each(w.dispatchers, (*node).stop)
		return errors.Join(err, pause(ctx, between(dice, time.Second, 4*time.Second)), each(w.dispatchers, func(n *node) error { return n.start(ctx, true) }))
	}},
}

func each(nodes []*node, do func(*node) error) error {
	errs := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() { errs <- do(n) }()
	}
	var all error
	for range nodes {
		all = errors.Join(all, <-errs)
	}
	return all
}

// freeze stops a process for span. Deliveries in flight at that moment may be sent twice.
func freeze(ctx context.Context, w *world, n *node, span time.Duration) error {
	if err := w.noteInFlight(ctx, n); err != nil {
		return err
	}
	n.freeze()
	err := pause(ctx, span)
	n.thaw()
	return err
}
