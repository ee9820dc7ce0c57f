package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// idle holds the costs of a service without work.
type idle struct {
	dispatcher sample // % of a core
	commits    sample // a second
}

// settle is longer than the ten seconds after which an idle connection of Postgres reports its commits.
const settle = 12 * time.Second

// measureIdle waits while nothing happens. A warm-up before opens the connections that a service in use has.
func measureIdle(ctx context.Context, w *world, o options, r *results) error {
	o.keys, o.partners = []bool{true}, o.partners[:1]
	all, b := w.variants(o, []int{8}, []int{1}), newBoard("at rest")
	err := rotate(ctx, o.rounds, w.turns(all, func(ctx context.Context, v variant, partners []testPartner) error {
		if err := w.warmUp(ctx, v, partners, o); err != nil {
			return err
		}
		f, err := w.restFigures(ctx, o.idle)
		if err != nil {
			return err
		}
		label := siteLabel(v)
		b.add(label, f)
		fmt.Printf("%s at rest: dispatcher %.2f %% of a core, %.1f commits/s, %.1f Redis commands/s\n", label, f["dispatcher %"], f["commits/s"], f["redis cmd/s"])
		return nil
	}))
	last := siteLabel(all[len(all)-1])
	r.idle = &idle{b.sample(last, "dispatcher %"), b.sample(last, "commits/s")}
	return errors.Join(err, b.print(os.Stdout))
}

// restFigures measures the service for a while in which no work comes.
func (w *world) restFigures(ctx context.Context, length time.Duration) (figures, error) {
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	from, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, length); err != nil {
		return nil, err
	}
	rest, err := w.since(ctx, from, 1)
	if err != nil {
		return nil, err
	}
	seconds := rest.to.at.Sub(rest.from.at).Seconds()
	used := rest.to.cpu.since(rest.from.cpu)
	f := figures{
		"commits/s": (rest.to.commits - rest.from.commits) / seconds, "redis cmd/s": (rest.to.commands - rest.from.commands) / seconds,
		"WAL B/s": (rest.to.wal - rest.from.wal) / seconds,
	}
	for _, part := range parts[:4] {
		f[part+" %"] = 100 * used[part] / seconds
	}
	return f, nil
}

func siteLabel(v variant) string { return cmp.Or(v.site.name, "this version") }

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
