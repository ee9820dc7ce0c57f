package main

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// settle is longer than the ten seconds after which an idle connection of Postgres reports its commits.
const settle = 12 * time.Second

// measureIdle waits while nothing happens. A warm-up before opens the connections that a service in use has.
func measureIdle(ctx context.Context, w *workbench, o options, r *results) {
	o.keys, o.partners = []bool{true}, o.partners[:1]
	all, b := w.variants(o, []int{8}, []int{1}), r.board("at rest")
	label := func(v variant) string { return cmp.Or(v.site.name, "this version") }
	counted := newStatements(ctx, w, o)
	err := rotate(o.rounds, w.turns(ctx, all, func(v variant, partners []testPartner) {
		w.warmUp(ctx, v, partners, o)
		counted.begin(ctx)
		b.add(label(v), w.restFigures(ctx, o.idle))
		counted.end(ctx, int((settle + o.idle).Seconds()))
		counted.add(label(v))
	}))
	counted.print(o.rounds)
	last := label(all[len(all)-1])
	r.addSample("idle CPU", b.sample(last, "dispatcher %"), 2, " %")
	r.addSample("idle commits", b.sample(last, "commits/s"), 1, "/s")
	check(err)
}

// restFigures measures the service for a while in which no work comes.
func (w *workbench) restFigures(ctx context.Context, length time.Duration) figures {
	check(pause(ctx, settle))
	rest := w.cost(ctx, func() int { check(pause(ctx, length)); return 1 })
	all, seconds := rest.figures(), rest.seconds()
	f := figures{"commits/s": all["commits"] / seconds, "redis cmd/s": all["redis cmd"] / seconds,
		"WAL B/s": all["WAL B"] / seconds}
	for _, part := range parts[:4] {
		f[part+" %"] = all[part] / 10 / seconds // CPU is in seconds per 1,000
	}
	return f
}

// waitingPartners wait for their feeds at a time.
const waitingPartners = 1000

// measureWaiting opens a request of each partner that waits for an event, and none, in turn. A request is answered
// after 25 s and made anew, as followers do. Figures are those beyond the same without requests that wait.
func measureWaiting(ctx context.Context, w *workbench, o options, r *results) {
	b := r.board(fmt.Sprintf("%d partners, at rest", waitingPartners))
	none := variant{site: w.last(), keyed: true, partners: waitingPartners, conns: o.conns[0]}
	all := none
	all.followed = true
	err := rotate(o.rounds, w.turns(ctx, []variant{none, all}, func(v variant, partners []testPartner) {
		if v.followed {
			defer w.follow(ctx, partners).stop()
		}
		f := w.restFigures(ctx, o.idle)
		f["CPU %"] = f["http %"] + f["postgres %"] + f["redis %"]
		b.add(v.String(), w.withMemory(f))
	}))
	r.addSample("waiting CPU", b.beyond(all, none, "CPU %"), 2, " %")
	r.addSample("waiting MB", b.beyond(all, none, "http MB"), 0, " MB")
	check(err)
}

// beyond gives, of each round, by how much a figure of a variant exceeds that of another.
func (b *board) beyond(v, other variant, figure string) (more sample) {
	before := b.sample(other.String(), figure)
	for i, n := range b.sample(v.String(), figure) {
		more = append(more, n-before[i])
	}
	return more
}
