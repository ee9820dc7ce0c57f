package main

import (
	"context"
	"fmt"
	"time"
)

const loneTime = 10 * time.Second

// measureLone prints the CPU-ms that one round trip costs the caller and the server at quietRate, where no two share a wake-up:
// the unit of the CPU of a lone event.
func (w *world) measureLone(ctx context.Context) error {
	idle, err := w.lone(ctx, func() error { return nil })
	if err != nil {
		return err
	}
	for _, trip := range []struct {
		name string
		make func() error
	}{
		{"a read of Postgres", func() error { _, err := w.pool.Exec(ctx, "SELECT 1"); return err }},
		{"a commit of Postgres", func() error {
			_, err := w.pool.Exec(ctx, "SELECT pg_logical_emit_message(true, 'bench', 'a commit')")
			return err
		}},
		{"a command of Redis", func() error { return w.redis.Ping(ctx).Err() }},
	} {
		spent, err := w.lone(ctx, trip.make)
		if err != nil {
			return err
		}
		fmt.Printf("floor: lone       %s costs %.2f CPU-ms at %d/s: caller %.2f, server %.2f\n",
			trip.name, spent.caller-idle.caller+spent.server-idle.server, quietRate, spent.caller-idle.caller, spent.server-idle.server)
	}
	return nil
}

// loneCost is CPU-ms per call.
type loneCost struct{ caller, server float64 }

func (w *world) lone(ctx context.Context, call func() error) (c loneCost, err error) {
	servers := func() float64 { return treeCPU(w.services.Postgres.Pid()) + treeCPU(w.services.Redis.Pid()) }
	own, server := ownCPU(), servers()
	ticker := time.NewTicker(time.Second / quietRate)
	defer ticker.Stop()
	n := int(loneTime.Seconds() * quietRate)
	for range n {
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-ticker.C:
		}
		if err := call(); err != nil {
			return c, err
		}
	}
	perCall := 1000 / float64(n)
	return loneCost{(ownCPU() - own) * perCall, (servers() - server) * perCall}, nil
}
