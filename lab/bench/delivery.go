package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

// measureThroughput creates deposits for the length of a round and then cancels all of them, as fast as the API takes
// the requests, in each variant.
func measureThroughput(ctx context.Context, w *workbench, o options, r *results) {
	all := w.variants(o, o.conns[:1], o.subscriptions)
	pairs := w.pairs(all)
	create, b := r.board("POST deposits", pairs...), r.board("end to end", pairs...)
	before := w.counted()
	err := rotate(o.rounds, w.turns(ctx, all, func(v variant, partners []testPartner) {
		defer r.peak(w)
		made, created := w.createRound(ctx, v, partners, o)
		create.add(v.String(), created)

		since, deliveries := system.Clock{}.Now(), len(made)*v.subscriptions
		var cancelled time.Duration
		spent := w.cost(ctx, func() int {
			took, began := w.taken(), time.Now()
			w.cancelAll(ctx, made, v.conns, v.keyed)
			cancelled = time.Since(began)
			w.awaitTaken(ctx, took+deliveries)
			return deliveries
		})
		f := w.withMemory(spent.figures())
		f["API rate"] = float64(len(made)) / cancelled.Seconds()
		w.addLogged(ctx, f, since, deliveries, partners...)
		b.add(v.String(), f)
	}))
	counts := w.counted()
	counts.Taken, counts.Duplicates = counts.Taken-before.Taken, counts.Duplicates-before.Duplicates
	counts.Invalid -= before.Invalid
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

// withMemory adds the peak memory of the processes.
func (w *workbench) withMemory(f figures) figures {
	f["http MB"], f["disp MB"] = float64(peakMB(w.http.Process().Pid())), float64(peakMB(w.dispatcher.Process().Pid()))
	return f
}

// addLogged adds the times in ms from the commit of a change to the end of the POST that was answered with a 2xx, of
// the last n deliveries to partners since a time. The times are read from the delivery log, and awaited: the dispatcher
// records outcomes in batches, shortly after the receiver has taken the deliveries.
func (w *workbench) addLogged(ctx context.Context, f figures, since time.Time, n int, partners ...testPartner) {
	var p50, p99, most float64
	logged := 0
	err := poll(ctx, world.StartLimit, 100*time.Millisecond, func() bool {
		check(w.Pool.QueryRow(ctx, `
			SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), 0),
				coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms), 0), coalesce(max(ms), 0), count(*)
			FROM (
				SELECT extract(epoch FROM d.taken_at - d.event_at) * 1000 + d.taken_ms AS ms
				FROM deliveries d
				WHERE d.state = 2 AND d.subscription_id = ANY ($1) AND d.event_at >= $2) AS l`,
			subscriptionsOf(partners), since).Scan(&p50, &p99, &most, &logged))
		return logged >= n
	})
	if err != nil {
		check(fmt.Errorf("%d of %d deliveries are in the log: %w", logged, n, err))
	}
	f["log p50 ms"], f["log p99 ms"], f["log max ms"] = p50, p99, most
}

func subscriptionsOf(partners []testPartner) (all []id.ID) {
	for _, t := range partners {
		all = append(all, t.subscriptions...)
	}
	return all
}

const quietRate = 20 // events a second

// measureLatency cancels deposits at a low rate, in an open loop.
func measureLatency(ctx context.Context, w *workbench, o options, r *results) {
	all := w.variants(o, []int{8}, o.subscriptions[:1])
	b := r.board(fmt.Sprintf("at %d events/s", quietRate))
	deciding, _ := w.decide(all)
	err := rotate(o.rounds, w.turns(ctx, all, func(v variant, partners []testPartner) {
		defer r.peak(w)
		w.warmUp(ctx, v, partners, o)
		since := system.Clock{}.Now()
		f, n := w.arrivalRound(ctx, v, partners, quietRate, 0, o.latency, func(int) bool { return true })
		w.addLogged(ctx, f, since, n, partners...)
		b.add(v.String(), f)
	}))
	name := deciding.String()
	for _, p := range []string{"p50", "p99"} { // of the slowest round
		slowest := slices.Max(append(sample{0}, b.sample(name, "log "+p+" ms")...))
		r.add("quiet log "+p, slowest, fmt.Sprintf("%.1f ms", slowest))
	}
	r.addSample("quiet p50", b.sample(name, "p50 ms"), 1, " ms")
	r.addSample("quiet p99", b.sample(name, "p99 ms"), 1, " ms")
	r.addSample("quiet CPU", b.sample(name, "CPU ms"), 2, " ms")
	check(err)
}

// arrivalRound cancels deposits in an open loop, and measures the way from the call to the receiver after a while.
// counts chooses the deposits to measure; n is the number of deliveries that endpoints took.
func (w *workbench) arrivalRound(
	ctx context.Context, v variant, partners []testPartner, rate int, warm, length time.Duration, counts func(i int) bool,
) (f figures, n int) {
	first := int(warm.Seconds()) * rate
	all := w.deposits(ctx, calls(int((warm+length).Seconds()*float64(rate))), v.conns, v.keyed, inTurn(partners))
	for i := range all {
		if i%len(partners) >= v.hanging {
			n += v.subscriptions
		}
	}
	took := w.taken()
	w.cancelPaced(ctx, all[:first], rate, v.keyed, took)
	w.arrivals() // starts the record
	p := w.cancelPaced(ctx, all[first:], rate, v.keyed, took+n)
	times, arrived := load.NewTimes(), w.arrivals()
	for i, m := range all[first:] {
		at, found := arrived[m.id]
		switch {
		case !counts(first + i):
		case !found:
			check(fmt.Errorf("no delivery of %s has arrived", m.id))
		default:
			times.Add(at.Sub(p.due[i]))
		}
	}
	return w.withMemory(p.spent.figures()).withLatency(times, p.late), n
}
