package main

import (
	"context"
	"fmt"
	"time"

	"partnerdeposits/adapters/system"
)

// measureThroughput creates deposits for the length of a round and then cancels all of them, as fast as the API takes the
// requests, in each variant.
func measureThroughput(ctx context.Context, w *workbench, o options, r *results) {
	all := w.variants(o, o.conns[:1], o.subscriptions)
	pairs := w.pairs(all)
	create, b := r.board("POST deposits", pairs...), r.board("end to end", pairs...)
	before := w.counted()
	err := rotate(o.rounds, w.turns(ctx, all, func(v variant, partners []testPartner) {
		defer r.peak(w)
		w.throughput(ctx, v, partners, o, create, b)
	}))
	counts := w.counted().since(before)
	deciding, beside := w.decide(all)
	name := deciding.String()
	rate := b.sample(name, "rate")
	r.rate = rate.median()
	r.addSample("rate", rate, 0, "/s")
	if r.jobs > 0 {
		r.add("of floor", r.rate/r.jobs, fmt.Sprintf("%.2f of %.0f/s", r.rate/r.jobs, r.jobs))
	}
	r.addSample("CPU", b.sample(name, "CPU"), 3, "")
	if beside != nil {
		r.addRatio("keyed rate", b.ratio(name, beside.String(), "rate"))
		r.addRatio("keyed CPU", b.ratio(name, beside.String(), "CPU"))
	}
	if o.stock > 0 && o.base == "" {
		empty := deciding
		empty.site = w.sites[0]
		r.addRatio("full", b.ratio(name, empty.String(), "CPU"))
	}
	r.addSample("http MB", b.sample(name, "http MB"), 0, " MB")
	r.addSample("dispatcher MB", b.sample(name, "disp MB"), 0, " MB")
	r.addCounts(counts)
	check(err)
}

func (r *results) addCounts(c counts) {
	r.add("unsigned", float64(c.Invalid), fmt.Sprintf("%d of %d are not", c.Invalid, c.Taken+c.Invalid))
	r.add("repeated", float64(c.Duplicates), fmt.Sprintf("%d of %d", c.Duplicates, c.Taken))
}

func (w *workbench) throughput(ctx context.Context, v variant, partners []testPartner, o options, create, deliver *board) {
	all, created := w.createRound(ctx, v, partners, o)
	create.add(v.String(), created)

	since, deliveries := system.Clock{}.Now(), len(all)*v.subscriptions
	var cancelled time.Duration
	spent := w.cost(ctx, func() int {
		took, began := w.taken(), time.Now()
		w.cancelAll(ctx, all, v.conns, v.keyed)
		cancelled = time.Since(began)
		w.awaitTaken(ctx, took+deliveries)
		return deliveries
	})
	delivered := w.withMemory(spent.figures())
	deliver.add(v.String(), delivered)
	l := w.latency(ctx, since, deliveries, partners...)
	fmt.Printf("%v: create %.0f/s, CPU s/1,000 %.3f; deliver %.0f/s (API alone %.0f/s), CPU s/1,000 %s; %s\n",
		v, created["rate"], created["CPU"], delivered["rate"], float64(len(all))/cancelled.Seconds(), delivered.cpu(), l)
}

// withMemory adds the peak memory of the processes.
func (w *workbench) withMemory(f figures) figures {
	f["http MB"], f["disp MB"] = float64(peakMB(w.http.Process().Pid())), float64(peakMB(w.dispatcher.Process().Pid()))
	return f
}
