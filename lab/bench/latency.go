package main

import (
	"context"
	"fmt"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// latency is the time in ms from the commit of a change to the end of the POST that was answered with a 2xx.
type latency struct {
	p50, p99, most float64
	n              int
}

func (l latency) String() string {
	return fmt.Sprintf("commit → 2xx p50 %.1f ms, p99 %.1f ms, max %.1f ms (%d)", l.p50, l.p99, l.most, l.n)
}

// latency reads the times of the last n deliveries to partners since a time from the delivery log. The dispatcher records
// outcomes in batches, shortly after the receiver has the deliveries.
func (w *workbench) latency(ctx context.Context, since time.Time, n int, partners ...testPartner) (l latency) {
	err := poll(ctx, world.StartLimit, 100*time.Millisecond, func() bool {
		check(w.Pool.QueryRow(ctx, `
			SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), 0),
				coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms), 0), coalesce(max(ms), 0), count(*)
			FROM (
				SELECT extract(epoch FROM d.taken_at - d.event_at) * 1000 + d.taken_ms AS ms
				FROM deliveries d
				WHERE d.state = 2 AND d.subscription_id = ANY ($1) AND d.event_at >= $2) AS l`,
			subscriptionsOf(partners), since).Scan(&l.p50, &l.p99, &l.most, &l.n))
		return l.n >= n
	})
	if err != nil {
		check(fmt.Errorf("%d of %d deliveries are in the log: %w", l.n, n, err))
	}
	return l
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
	var slowest latency // of the rounds of the deciding variant
	err := rotate(o.rounds, w.turns(ctx, all, func(v variant, partners []testPartner) {
		defer r.peak(w)
		if l := w.quietRound(ctx, v, partners, o, b); v == deciding && l.p99 > slowest.p99 {
			slowest = l
		}
	}))
	name := deciding.String()
	r.add("quiet log p50", slowest.p50, fmt.Sprintf("%.1f ms", slowest.p50))
	r.add("quiet log p99", slowest.p99, fmt.Sprintf("%.1f ms", slowest.p99))
	r.addSample("quiet p50", b.sample(name, "p50 ms"), 1, " ms")
	r.addSample("quiet p99", b.sample(name, "p99 ms"), 1, " ms")
	r.addSample("quiet CPU", b.sample(name, "CPU ms"), 2, " ms")
	check(err)
}

func (w *workbench) quietRound(ctx context.Context, v variant, partners []testPartner, o options, b *board) latency {
	w.warmUp(ctx, v, partners, o)
	since := system.Clock{}.Now()
	f, n := w.arrivalRound(ctx, v, partners, quietRate, 0, o.latency, func(int) bool { return true })
	b.add(v.String(), f)
	l := w.latency(ctx, since, n, partners...)
	fmt.Printf("%v: at %d events/s call → receiver p50 %.1f ms, p99 %.1f ms, %.1f CPU-ms an event; %s\n",
		v, quietRate, f["p50 ms"], f["p99 ms"], f["CPU"], l)
	return l
}

// arrivalRound cancels deposits in an open loop, and measures the way from the call to the receiver after a while. counts
// chooses the deposits to measure; n is the number of deliveries that endpoints took.
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
	times := w.untilArrival(p, all[first:], func(i int) bool { return counts(first + i) })
	return w.withMemory(p.spent.figures()).withLatency(times, p.late), n
}
