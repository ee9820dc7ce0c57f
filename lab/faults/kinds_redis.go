package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

func init() { kinds = append(kinds, redisKinds...) }

// redisDown stops Redis without notice and starts it after span with its data on disk.
func redisDown(ctx context.Context, w *world, span time.Duration) error {
	if err := w.services.Redis.Kill(); err != nil {
		return err
	}
	return errors.Join(pause(ctx, span), w.services.Redis.Restart(ctx))
}

// redisLinks applies do to the link of every process to Redis.
func (w *world) redisLinks(do func(*link) error) (err error) {
	for _, n := range append(w.nodes(), w.spare) {
		err = errors.Join(err, do(n.redis))
	}
	return err
}

func (w *world) healRedis(ctx context.Context) error {
	return w.redisLinks(func(l *link) error { return l.heal(ctx) })
}

var redisKinds = []fault{
	{name: "FLUSHALL", redisOnly: true, flushes: true, do: func(ctx context.Context, w *world, _ *rand.Rand) error {
		return w.redis.FlushAll(ctx).Err()
	}},
	{name: "FLUSHALL with jobs in the queue", redisOnly: true, flushes: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		setAll := func(o override) {
			for _, e := range w.receivers.all() {
				e.setOverride(o)
			}
		}
		setAll(hanging) // all workers wait, and jobs queue up
		err := pause(ctx, between(dice, time.Second, 2*time.Second))
		err = errors.Join(err, w.redis.FlushAll(ctx).Err())
		setAll(usual)
		return err
	}},
	{name: "FLUSHALL again and again", redisOnly: true, flushes: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		for range 3 {
			if err := errors.Join(w.redis.FlushAll(ctx).Err(), pause(ctx, between(dice, 300*time.Millisecond, 2*time.Second))); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "Redis killed, back at once from its log", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return redisDown(ctx, w, between(dice, 10*time.Millisecond, time.Second))
	}},
	{name: "Redis killed, back empty", redisOnly: true, flushes: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		// The links open only after Redis is empty, so no process sees the old data.
		err := w.redisLinks(func(l *link) error { l.cut(); return nil })
		return errors.Join(err, redisDown(ctx, w, between(dice, 100*time.Millisecond, 2*time.Second)), w.redis.FlushAll(ctx).Err(), w.healRedis(ctx))
	}},
	{name: "Redis restored from an old state", do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		// Later writes are missing in the append-only file.
		if err := w.redis.ConfigSet(ctx, "appendonly", "no").Err(); err != nil {
			return err
		}
		// A job in progress at this moment is handed out again, perhaps to another dispatcher.
		return errors.Join(w.noteInFlight(ctx, nil), pause(ctx, between(dice, 500*time.Millisecond, 3*time.Second)), w.noteInFlight(ctx, nil),
			redisDown(ctx, w, 100*time.Millisecond))
	}},
	{name: "Redis stands still", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		if err := w.services.Redis.Pause(); err != nil {
			return err
		}
		return errors.Join(pause(ctx, between(dice, 500*time.Millisecond, 6*time.Second)), w.services.Redis.Resume())
	}},
	{name: "Redis away for a while", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		return redisDown(ctx, w, between(dice, 3*time.Second, 8*time.Second))
	}},
	{name: "Redis away for a minute", redisOnly: true, long: true, measured: true, do: func(ctx context.Context, w *world, _ *rand.Rand) error {
		return redisDown(ctx, w, time.Minute)
	}},
	{name: "Redis is slow", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		err := w.redisLinks(func(l *link) error {
			return l.disturb("latency", "downstream", map[string]any{"latency": 20 + dice.IntN(400), "jitter": 20})
		})
		return errors.Join(err, pause(ctx, between(dice, 2*time.Second, 5*time.Second)), w.healRedis(ctx))
	}},
	{name: "answers of Redis get lost", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		// Commands take effect, but their responses are lost.
		err := w.redisLinks(func(l *link) error { return l.disturb("timeout", "downstream", map[string]any{"timeout": 0}) })
		return errors.Join(err, pause(ctx, between(dice, time.Second, 4*time.Second)), w.healRedis(ctx))
	}},
	{name: "connections to Redis are reset", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		err := w.redisLinks(func(l *link) error {
			return l.disturb("reset_peer", "downstream", map[string]any{"timeout": 50 + dice.IntN(200)})
		})
		return errors.Join(err, pause(ctx, between(dice, time.Second, 3*time.Second)), w.healRedis(ctx))
	}},
	{name: "one dispatcher is cut off from Redis", redisOnly: true, do: func(ctx context.Context, w *world, dice *rand.Rand) error {
		n := pick(dice, w.dispatchers)
		n.redis.cut()
		return errors.Join(pause(ctx, between(dice, time.Second, 5*time.Second)), n.redis.heal(ctx))
	}},
}
