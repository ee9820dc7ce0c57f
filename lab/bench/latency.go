package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
)

// latency is the time in ms from the commit of a change to the end of the POST that was answered with a 2xx.
type latency struct {
	p50, p99, most float64
	n              int
}

func (l latency) String() string {
	return fmt.Sprintf("commit → 2xx p50 %.1f ms, p99 %.1f ms, max %.1f ms (%d)", l.p50, l.p99, l.most, l.n)
}

// latency reads the times of the last n deliveries to partners since a time from the delivery log. The dispatcher records outcomes
// in batches, shortly after the receiver has the deliveries.
func (w *world) latency(ctx context.Context, since time.Time, n int, partners ...testPartner) (l latency, err error) {
	var subscriptions []id.ID
	for _, t := range partners {
		subscriptions = append(subscriptions, t.subscriptions...)
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := w.pool.QueryRow(ctx, `
			SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), 0), coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms), 0), coalesce(max(ms), 0), count(*)
			FROM (
				SELECT extract(epoch FROM d.taken_at - d.event_at) * 1000 + d.taken_ms AS ms
				FROM deliveries d
				WHERE d.state = 2 AND d.subscription_id = ANY ($1) AND d.event_at >= $2) AS l`, subscriptions, since).Scan(&l.p50, &l.p99, &l.most, &l.n)
		if err != nil || l.n >= n {
			return l, err
		}
		select {
		case <-ctx.Done():
			return l, fmt.Errorf("%d of %d deliveries are in the log", l.n, n)
		case <-ticker.C:
		}
	}
}

// quiet holds the figures of a few events a second.
type quiet struct {
	latency              // of the slowest round, from the delivery log
	p50, p99, cpu sample // of each round: ms from the call of the API to the receiver; CPU-ms of all processes per event
}

const quietRate = 20

// measureLatency cancels deposits at a low rate, in an open loop.
func measureLatency(ctx context.Context, w *world, o options, r *results) error {
	all := w.variants(o, []int{8}, o.subscriptions[:1])
	b := newBoard(fmt.Sprintf("at %d events/s", quietRate))
	deciding, _ := w.decide(all)
	r.quiet = &quiet{}
	err := rotate(ctx, o.rounds, w.turns(all, func(ctx context.Context, v variant, partners []testPartner) error {
		defer r.peak(w)
		l, err := w.quietRound(ctx, v, partners, o, b)
		if v == deciding && l.p99 > r.quiet.latency.p99 {
			r.quiet.latency = l
		}
		return err
	}))
	name := deciding.String()
	r.quiet.p50, r.quiet.p99, r.quiet.cpu = b.sample(name, "p50 ms"), b.sample(name, "p99 ms"), b.sample(name, "CPU ms")
	return errors.Join(err, b.print(os.Stdout))
}

func (w *world) quietRound(ctx context.Context, v variant, partners []testPartner, o options, b *board) (l latency, err error) {
	if err := w.warmUp(ctx, v, partners, o); err != nil {
		return l, err
	}
	ids, err := w.deposits(ctx, calls(int(o.latency.Seconds()*quietRate)), v.conns, v.keyed, inTurn(partners))
	if err != nil {
		return l, err
	}
	if _, err := w.arrivals(); err != nil { // starts the record
		return l, err
	}
	since, took := system.Clock{}.Now(), w.taken()
	from, err := w.read(ctx)
	if err != nil {
		return l, err
	}
	called, late, err := w.cancelPaced(ctx, ids, quietRate, v.keyed)
	if err != nil {
		return l, err
	}
	if err := w.awaitTaken(ctx, took, len(ids)*v.subscriptions, time.Minute); err != nil {
		return l, err
	}
	spent, err := w.since(ctx, from, len(ids))
	if err != nil {
		return l, err
	}
	arrived, err := w.arrivals()
	if err != nil {
		return l, err
	}
	var ms sample
	for i, m := range ids {
		ms = append(ms, arrived[m.id].Sub(called[i]).Seconds()*1000)
	}
	f := w.withMemory(spent.figures()).withLatency(ms, late)
	b.add(v.String(), f)
	l, err = w.latency(ctx, since, len(ids)*v.subscriptions, partners...)
	fmt.Printf("%v: at %d events/s call → receiver p50 %.1f ms, p99 %.1f ms, %.1f CPU-ms an event; %s\n", v, quietRate, f["p50 ms"], f["p99 ms"], f["CPU"], l)
	return l, err
}
