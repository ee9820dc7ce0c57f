package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

func init() { kinds = append(kinds, mailKinds...) }

// withPost overrides the ways of the mail server for a while.
func withPost(ctx context.Context, w *world, dice *rand.Rand, r reception) error {
	w.post.setOverride(r)
	err := pause(ctx, between(dice, time.Second, 2*time.Second))
	w.post.setOverride(byDice)
	return err
}

var mailKinds = []fault{
	{name: "the mail server refuses and hangs up, and mails wait", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		var err error
		for _, r := range []reception{refusesConnections, hangsUp, refusesText, hangsUpLate} {
			err = errors.Join(err, withPost(ctx, w, dice, r))
		}
		return errors.Join(err, w.leap(ctx))
	}},
	{name: "dispatchers are killed while the mail server is slow", kills: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		err := withPost(ctx, w, dice, takesLate)
		return errors.Join(err, each(w.dispatchers, func(n *node) error { return errors.Join(n.kill(ctx), n.start(ctx, true)) }))
	}},
}
