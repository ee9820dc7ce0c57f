package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// fault is something that goes wrong and is over when do returns, every process running again.
type fault struct {
	name string
	do   func(ctx context.Context, w *world, dice *rand.Rand) error

	redisOnly bool // touches nothing but Redis: no delivery may be made twice
	long      bool // takes longer than a short run has
	kills     bool // a dispatcher dies: what it had claimed waits for the end of its lease
	measured  bool // deliveries go on meanwhile, and not slowly
	flushes   bool // Redis loses its data, and the dispatchers notice
}

// between gives a random span.
func between(dice *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(dice.Int64N(int64(to-from)))
}

// hold keeps a fault up for a while.
func hold(ctx context.Context, span time.Duration) error {
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

// kinds are all faults but the kills at failpoints.
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
		return errors.Join(n.stop(), hold(ctx, between(dice, time.Second, 4*time.Second)), n.start(ctx, true))
	}},
	{name: "a third dispatcher for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return errors.Join(w.spare.start(ctx, true), hold(ctx, between(dice, time.Second, 4*time.Second)), w.spare.stop())
	}},
	{name: "no dispatcher for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		err := each(w.dispatchers, (*node).stop)
		return errors.Join(err, hold(ctx, between(dice, time.Second, 4*time.Second)), each(w.dispatchers, func(n *node) error { return n.start(ctx, true) }))
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

// freeze stops a process in its tracks for span. What it has in flight then is what it may send twice.
func freeze(ctx context.Context, w *world, n *node, span time.Duration) error {
	if err := w.takeStock(ctx, n); err != nil {
		return err
	}
	n.freeze()
	err := hold(ctx, span)
	n.thaw()
	return err
}
