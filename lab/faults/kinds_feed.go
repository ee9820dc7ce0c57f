package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

func init() { kinds = append(kinds, feedKinds...) }

// inPieces makes the statements of a process arrive at Postgres piece by piece, so that a transaction takes long between its
// first statement and its commit.
func inPieces(l *link) error {
	return l.disturb("slicer", "upstream", map[string]any{"average_size": 96, "size_variation": 32, "delay": 8_000})
}

// feedKinds are the faults that disturb the numbering of events.
var feedKinds = []fault{
	{name: "a relay stands still in mid-transaction", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return w.stall(ctx, dice, between(dice, 300*time.Millisecond, 2*time.Second))
	}},
	{name: "a relay stands still until Postgres ends its transaction", long: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return w.stall(ctx, dice, between(dice, 11*time.Second, 14*time.Second))
	}},
	{name: "commits come late and in another order, without a relay", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		slow := pick(dice, w.https)
		err := each(w.dispatchers, (*node).stop)
		err = errors.Join(err, inPieces(slow.pg), pause(ctx, between(dice, 1500*time.Millisecond, 2500*time.Millisecond)))
		// The relays begin while transactions of the slow process are still open.
		err = errors.Join(err, each(w.dispatchers, func(n *node) error { return n.start(ctx, true) }))
		return errors.Join(err, pause(ctx, between(dice, 300*time.Millisecond, time.Second)), slow.pg.heal(ctx))
	}},
}

// stall makes the next relay of a dispatcher stand still while it holds the counters of its partners.
func (w *world) stall(ctx context.Context, dice *rand.Rand, span time.Duration) error {
	points := []string{"relay.taken", "relay.writing"}
	pick(dice, w.dispatchers).current().Tell(fmt.Sprintf("stall %s %d", points[dice.IntN(len(points))], span.Milliseconds()))
	return pause(ctx, span+200*time.Millisecond)
}
