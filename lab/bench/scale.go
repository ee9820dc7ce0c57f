package main

import (
	"context"
	"fmt"
	"time"

	"partnerdeposits/lab/load"
)

// scales are the numbers of http and dispatcher processes that the step scale compares.
var scales = [][2]int{{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 4}}

// measureScale cancels deposits at the same rate, spread over more and more processes. A process more should cost its
// own CPU at rest, and the database nothing.
func measureScale(ctx context.Context, w *workbench, o options, r *results) {
	rate := o.rate
	if rate == 0 {
		rate = max(int(r.rate/2), 500)
	}
	o.keys, o.partners = []bool{true}, o.partners[:1]
	var all []variant
	for _, n := range scales {
		for _, v := range w.variants(o, o.conns[:1], o.subscriptions[:1]) {
			v.https, v.dispatchers = n[0], n[1]
			all = append(all, v)
		}
	}
	last := all[len(all)-1]
	b := r.board(fmt.Sprintf("at %d events/s", rate), scalePairs(all)...)
	counted := newStatements(ctx, w, o)
	err := rotate(o.rounds, w.turns(ctx, all, func(v variant, partners []testPartner) {
		w.warmUp(ctx, v, partners, o)
		f := w.pacedRound(ctx, v, partners, rate, o.round, counted)
		b.add(v.String(), f)
		counted.add(v.String())
	}))
	counted.print(o.rounds)
	one, two := last, last
	one.https, one.dispatchers, two.https, two.dispatchers = 1, 1, 2, 2
	r.addRatio("scale postgres", b.ratio(two.String(), one.String(), "postgres"))
	r.addRatio("scale", b.ratio(two.String(), one.String(), "CPU"))
	check(err)
}

// scalePairs compares each variant with the same site's 1+1, and with the site before at the same scale.
func scalePairs(all []variant) (found []pair) {
	for _, a := range all {
		single := a
		single.https, single.dispatchers = 1, 1
		if a != single {
			found = append(found, pair{a.String(), single.String()})
		}
		for _, other := range all {
			same := other
			same.site = a.site
			if same == a && a.site.name == "new" && other.site.name == "base" {
				found = append(found, pair{a.String(), other.String()})
			}
		}
	}
	return found
}

// pacedRound cancels deposits in an open loop of a rate, until all deliveries have arrived.
func (w *workbench) pacedRound(
	ctx context.Context, v variant, partners []testPartner, rate int, length time.Duration, counted *statements,
) figures {
	all := w.deposits(ctx, load.Extent{N: int(length.Seconds() * float64(rate))}, v.conns, v.keyed, inTurn(partners))
	w.checkpoint(ctx)
	taken := w.taken() + len(all)*v.subscriptions
	w.arrivals() // starts the record
	counted.begin(ctx)
	p := w.cancelPaced(ctx, all, rate, v.keyed, taken)
	counted.end(ctx, len(all))
	times, arrived := load.NewTimes(), w.arrivals()
	for i, m := range all {
		times.Add(arrived[m.id].Sub(p.due[i]))
	}
	return p.spent.figures().withLatency(times, p.late)
}
