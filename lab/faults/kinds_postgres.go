package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

func init() { kinds = append(kinds, postgresKinds...) }

// exec runs a statement until it succeeds. The statement must be repeatable.
func (w *world) exec(ctx context.Context, sql string) error {
	_, err := query(ctx, w, func(pgx.CollectableRow) (struct{}, error) { return struct{}{}, nil }, sql)
	return err
}

// terminateAll ends every connection of the service.
func (w *world) terminateAll(ctx context.Context) error {
	return w.exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '`+serviceRole+`'`)
}

// withPostgres disturbs the links of some processes to Postgres for span. A disturbance longer than a lease may lead to
// second copies of the deliveries in flight.
func (w *world) withPostgres(ctx context.Context, nodes []*node, span time.Duration, disturb func(*link) error) error {
	err := w.noteInFlight(ctx, nil)
	for _, n := range nodes {
		err = errors.Join(err, disturb(n.pg))
	}
	err = errors.Join(err, pause(ctx, span))
	for _, n := range nodes {
		err = errors.Join(err, n.pg.heal(ctx))
	}
	return err
}

var postgresKinds = []fault{
	{name: "Postgres restarts at once", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return errors.Join(w.noteInFlight(ctx, nil), w.services.Postgres.Stop(true), pause(ctx, between(dice, time.Millisecond, time.Second)), w.services.Postgres.Restart(ctx))
	}},
	{name: "Postgres is killed", do: func(ctx context.Context, w *world, _ *rand.Rand) error {
		return errors.Join(w.noteInFlight(ctx, nil), w.services.Postgres.Kill(), w.services.Postgres.Restart(ctx))
	}},
	{name: "Postgres away for a while", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return errors.Join(w.noteInFlight(ctx, nil), w.services.Postgres.Stop(true), pause(ctx, between(dice, 2*time.Second, 6*time.Second)), w.services.Postgres.Restart(ctx))
	}},
	{name: "Postgres stands still", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		if err := errors.Join(w.noteInFlight(ctx, nil), w.services.Postgres.Pause()); err != nil {
			return err
		}
		return errors.Join(pause(ctx, between(dice, 500*time.Millisecond, 4*time.Second)), w.services.Postgres.Resume())
	}},
	{name: "all connections to Postgres are terminated", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		for range 1 + dice.IntN(4) {
			if err := errors.Join(w.noteInFlight(ctx, nil), w.terminateAll(ctx), pause(ctx, between(dice, 50*time.Millisecond, 500*time.Millisecond))); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "connections to Postgres run out", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		limit := func(n int) error {
			return w.exec(ctx, fmt.Sprintf(`ALTER ROLE %s CONNECTION LIMIT %d`, serviceRole, n))
		}
		return errors.Join(w.noteInFlight(ctx, nil), limit(dice.IntN(6)), w.terminateAll(ctx), pause(ctx, between(dice, time.Second, 4*time.Second)), limit(-1))
	}},
	{name: "Postgres is slow", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return w.withPostgres(ctx, w.nodes(), between(dice, 2*time.Second, 5*time.Second), func(l *link) error {
			return l.disturb("latency", "downstream", map[string]any{"latency": 5 + dice.IntN(80), "jitter": 5})
		})
	}},
	{name: "connections to Postgres are reset", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return w.withPostgres(ctx, w.nodes(), between(dice, time.Second, 3*time.Second), func(l *link) error {
			return l.disturb("reset_peer", "downstream", map[string]any{"timeout": 20 + dice.IntN(200)})
		})
	}},
	{name: "packets of Postgres come in pieces", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return w.withPostgres(ctx, w.nodes(), between(dice, time.Second, 3*time.Second), func(l *link) error {
			return l.disturb("slicer", "downstream", map[string]any{"average_size": 64, "size_variation": 32, "delay": 100})
		})
	}},
	{name: "one process is cut off from Postgres", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return w.withPostgres(ctx, []*node{pick(dice, w.nodes())}, between(dice, time.Second, 5*time.Second), func(l *link) error { l.cut(); return nil })
	}},
	{name: "answers of Postgres get lost on the way to one process", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		// The statements commit, but their responses are lost.
		return w.withPostgres(ctx, []*node{pick(dice, w.nodes())}, between(dice, time.Second, 5*time.Second), func(l *link) error {
			return l.disturb("timeout", "downstream", map[string]any{"timeout": 0})
		})
	}},
}
