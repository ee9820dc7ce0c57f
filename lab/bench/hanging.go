package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// mostHanging of all partners have an endpoint that may hang. The other partners are healthy in every variant, and only
// they are measured.
const mostHanging = 5

// hanging is the latency of healthy partners beside endpoints that hang: ms from the call of the API to the receiver.
type hanging struct{ five ratio } // p99 beside five to p99 beside none

// measureHanging cancels deposits of many partners at a steady rate while none, one and five of their endpoints hang.
func measureHanging(ctx context.Context, w *world, o options, r *results) error {
	rate, b := isolationRate(r.throughput), newBoard("healthy partners")
	plain := variant{site: w.sites[len(w.sites)-1], keyed: true, partners: addresses, subscriptions: 1, conns: o.conns[0]}
	all := []variant{plain, plain, plain}
	all[1].hanging, all[2].hanging = 1, mostHanging
	err := rotate(ctx, o.rounds, w.turns(all, func(ctx context.Context, v variant, partners []testPartner) error {
		defer r.peak(w)
		return w.hangingRound(ctx, v, partners, rate, o.isolation, b)
	}))
	r.hanging = &hanging{five: b.ratio(all[2].String(), plain.String(), "p99 ms")}
	for _, v := range all[1:] {
		fmt.Printf("%v ÷ none hang: p99 %v\n", v, b.ratio(v.String(), plain.String(), "p99 ms"))
	}
	return errors.Join(err, b.print(os.Stdout))
}

func (w *world) hangingRound(ctx context.Context, v variant, partners []testPartner, rate int, length time.Duration, b *board) error {
	const warmUp = 2 * time.Second
	warm, n := int(warmUp.Seconds())*rate, int((warmUp+length).Seconds()*float64(rate))
	ids, err := w.deposits(ctx, calls(n), v.conns, v.keyed, inTurn(partners))
	if err != nil {
		return err
	}
	took := w.taken()
	if _, _, err := w.cancelPaced(ctx, ids[:warm], rate, v.keyed); err != nil {
		return err
	}
	if _, err := w.arrivals(); err != nil { // starts the record
		return err
	}
	from, err := w.read(ctx)
	if err != nil {
		return err
	}
	called, late, err := w.cancelPaced(ctx, ids[warm:], rate, v.keyed)
	if err != nil {
		return err
	}
	answering := 0
	for i := range n {
		if i%len(partners) >= v.hanging {
			answering++
		}
	}
	if err := w.awaitTaken(ctx, took, answering, 2*time.Minute); err != nil {
		return err
	}
	spent, err := w.since(ctx, from, n-warm)
	if err != nil {
		return err
	}
	arrived, err := w.arrivals()
	if err != nil {
		return err
	}
	var ms sample
	for i, m := range ids[warm:] {
		if (warm+i)%len(partners) >= mostHanging {
			ms = append(ms, arrived[m.id].Sub(called[i]).Seconds()*1000)
		}
	}
	f := w.withMemory(spent.figures()).withLatency(ms, late)
	b.add(v.String(), f)
	fmt.Printf("%v at %d events/s: healthy call → receiver p50 %.1f ms, p99 %.1f ms\n", v, rate, f["p50 ms"], f["p99 ms"])
	return nil
}

// subscriptionURLs are the addresses of the i-th partner's subscriptions.
func (w *world) subscriptionURLs(v variant, i int) []string {
	if i < v.hanging {
		return []string{w.sinkOf(i) + "/hang"}
	}
	urls := make([]string, v.subscriptions)
	for j := range urls {
		urls[j] = fmt.Sprintf("%s/%d", w.sinkOf(i), j)
	}
	return urls
}
