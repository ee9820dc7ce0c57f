package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

// measureRate creates deposits for a round and then cancels all, as fast as possible.
func measureRate(ctx context.Context, w *workbench, o options, r *results) {
	o.conns = o.conns[:1]
	all := w.variants(o)
	create, b := r.board("POST deposits", w.pairs(all)), r.board("end to end", w.pairs(all))
	before := w.counted()
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		made := w.createRound(ctx, v, partners, o.round, create)
		w.arrivals()
		var called []time.Time
		f := w.cost(ctx, func() int {
			took := w.counted().Taken
			called = w.cancelAll(ctx, made, v)
			w.awaitTaken(ctx, took+len(made)*w.perEvent)
			return len(made) * w.perEvent
		})
		times := w.arrivalTimes(made, called)
		f["p50 ms"], f["p99 ms"] = times.Percentile(50), times.Percentile(99)
		b.add(v.String(), f)
	})
	deciding := all[len(w.sites)-1]
	name, keyless := deciding.String(), deciding
	keyless.keyed = false
	r.atLeast("end to end, deliveries/s (aim 4000)", 3000, b.median(name, "rate"))
	r.atMost("end to end, CPU s per 1,000 (aim 0.4)", 0.5, b.median(name, "CPU"))
	if deciding.keyed && slices.Contains(all, keyless) {
		r.atLeast("keyed ÷ keyless end to end, rate (aim 0.85)", 0.75, b.ratio(name, keyless.String(), "rate"))
		r.atMost("keyed ÷ keyless end to end, CPU (aim 1.2)", 1.3, b.ratio(name, keyless.String(), "CPU"))
	}
	if o.stock > 0 && o.base == "" {
		r.atMost("stocked ÷ empty database, CPU (aim 1.1)", 1.15, b.ratio(name, all[0].String(), "CPU"))
	}
	r.atMost("http under full load, MB", 100, b.median(name, "http MB"))
	r.atMost("dispatcher under full load, MB", 60, b.median(name, "disp MB"))
	after := w.counted()
	r.atMost("deliveries without a valid signature", 0, rounded(float64(after.Invalid-before.Invalid)))
	r.atMost("deliveries that arrive twice", 0, rounded(float64(after.Duplicates-before.Duplicates)))
}

// createRound creates deposits for a round, after a warm-up, and adds their cost to b.
func (w *workbench) createRound(
	ctx context.Context, v loadVariant, partners []world.Partner, length time.Duration, b *board,
) (all []made) {
	w.warmUp(ctx, v, partners, length)
	b.add(v.String(), w.cost(ctx, func() int {
		all = w.deposits(ctx, lasting(length), v, partners)
		return len(all)
	}))
	return all
}

// scales are the numbers of http and dispatcher processes in the benchmark step "scale".
var scales = [][2]int{{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 4}}

// measureScale cancels deposits at the same rate with more and more processes, and compares the cost.
func measureScale(ctx context.Context, w *workbench, o options, r *results) {
	o.conns, o.partners, o.keys = o.conns[:1], o.partners[:1], []bool{true}
	rate := cmp.Or(o.rate, 1000)
	one := w.variants(o)
	var all []loadVariant
	for _, n := range scales {
		for _, v := range one {
			v.https, v.dispatchers = n[0], n[1]
			all = append(all, v)
		}
	}
	b := r.board(fmt.Sprintf("at %d events/s", rate), w.pairs(all))
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		w.warmUp(ctx, v, partners, o.round)
		b.add(v.String(), w.openRound(ctx, v, partners, pace{rate: rate, length: o.round}))
	})
	single := one[len(one)-1]
	double := single
	double.https, double.dispatchers = 2, 2
	r.atMost("2 http + 2 dispatchers ÷ 1 + 1, Postgres's CPU (aim 1.15)", 1.25,
		b.ratio(double.String(), single.String(), "postgres"))
	r.atMost("2 http + 2 dispatchers ÷ 1 + 1, CPU (aim 1.25)", 1.35, b.ratio(double.String(), single.String(), "CPU"))
}

// Deposit changes per second: so few that no event waits for another.
const quietRate = 20

// measureLatency cancels deposits at a low rate, and measures the time to each webhook's arrival.
func measureLatency(ctx context.Context, w *workbench, o options, r *results) {
	o.conns = []int{8}
	all := w.variants(o)
	b := r.board(fmt.Sprintf("at %d events/s", quietRate), w.pairs(all))
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		w.warmUp(ctx, v, partners, o.round)
		b.add(v.String(), w.openRound(ctx, v, partners, pace{rate: quietRate, length: o.round}))
	})
	deciding := all[len(w.sites)-1].String()
	r.atMost("at 20 events/s, call → receiver, p50 in ms (aim 5)", 6, b.median(deciding, "p50 ms"))
	r.atMost("at 20 events/s, call → receiver, p99 in ms (aim 12)", 14, b.median(deciding, "p99 ms"))
	r.atMost("at 20 events/s, CPU-ms an event (aim 5)", 6.5, b.median(deciding, "CPU"))
}

// measureIdle measures the service's cost while nothing happens, with the open connections of a service in use.
func measureIdle(ctx context.Context, w *workbench, o options, r *results) {
	// An idle connection of Postgres reports its commits only after ten seconds.
	const settle = 12 * time.Second
	o.conns, o.partners, o.keys = []int{8}, o.partners[:1], []bool{true}
	all := w.variants(o)
	b := r.board("a second at rest", w.pairs(all))
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		w.warmUp(ctx, v, partners, o.round)
		check(world.Sleep(ctx, settle))
		b.add(v.String(), w.cost(ctx, func() int {
			check(world.Sleep(ctx, o.round))
			return max(1, int(o.round.Seconds()))
		}))
	})
	last := all[len(all)-1].String()
	r.atMost("at rest, CPU-ms of the dispatcher a second (aim 5)", 12, b.median(last, "dispatcher"))
	r.atMost("at rest, commits a second (aim 2)", 8, b.median(last, "commits"))
}

// maxHanging is the number of partners whose endpoint may answer only after ten seconds. Only the others are
// measured.
const maxHanging = 5

// measureHanging cancels deposits at a steady rate while none, one or five endpoints hang.
func measureHanging(ctx context.Context, w *workbench, o options, r *results) {
	o.conns, o.partners, o.keys = o.conns[:1], []int{addresses}, []bool{true}
	p := pace{rate: cmp.Or(o.rate, 200), warm: warmTime, length: o.round, skip: maxHanging}
	healthy := w.variants(o)
	var all []loadVariant
	for _, n := range []int{0, 1, maxHanging} {
		for _, v := range healthy {
			v.hanging = n
			all = append(all, v)
		}
	}
	b := r.board(fmt.Sprintf("healthy partners at %d events/s", p.rate), w.pairs(all))
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		b.add(v.String(), w.openRound(ctx, v, partners, p))
	})
	r.atMost("5 of 30 endpoints hang: p99 of the healthy (aim 1.05)", 1.2,
		b.ratio(all[len(all)-1].String(), healthy[len(healthy)-1].String(), "p99 ms"))
}

// pace is a load at a fixed rate that does not wait for answers. The events of the first skip partners and of the
// duration warm are not measured.
type pace struct {
	rate, skip   int
	warm, length time.Duration
}

// openRound cancels deposits at a fixed rate, and returns the latency from API call to receiver.
func (w *workbench) openRound(ctx context.Context, v loadVariant, partners []world.Partner, p pace) figures {
	first := int(p.warm.Seconds()) * p.rate
	all := w.deposits(ctx, calls(int((p.warm+p.length).Seconds()*float64(p.rate))), v, partners)
	expected := w.counted().Taken
	for i := range all {
		if i%len(partners) >= v.hanging {
			expected += w.perEvent
		}
	}
	w.checkpoint(ctx)
	_, _, err := load.RunOpenLoop(ctx, first, p.rate, func(i int, _ time.Time) error { return w.cancel(all[i], v) })
	check(err)
	// The first call of arrivals starts the recording of arrival times.
	w.arrivals()
	var late *load.DurationHistogram
	due := make([]time.Time, len(all))
	f := w.cost(ctx, func() int {
		_, late, err = load.RunOpenLoop(ctx, len(all)-first, p.rate, func(i int, at time.Time) error {
			due[first+i] = at
			return w.cancel(all[first+i], v)
		})
		check(err)
		w.awaitTaken(ctx, expected)
		return len(all) - first
	})
	times, arrived := load.NewDurationHistogram(), w.arrivals()
	for i := first; i < len(all); i++ {
		at, found := arrived[all[i].id]
		switch {
		case i%len(partners) < p.skip:
		case !found:
			check(fmt.Errorf("no delivery of %s has arrived", all[i].id))
		default:
			times.Add(at.Sub(due[i]))
		}
	}
	f["p50 ms"], f["p99 ms"], f["late ms"] = times.Percentile(50), times.Percentile(99), late.Percentile(100)
	return f
}
