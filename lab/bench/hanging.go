package main

import (
	"context"
	"fmt"
)

// mostHanging of all partners have an endpoint that may hang. The other partners are healthy in every variant, and only
// they are measured.
const mostHanging = 5

// measureHanging cancels deposits of many partners at a steady rate while none, one and five of their endpoints hang.
func measureHanging(ctx context.Context, w *workbench, o options, r *results) {
	rate, b := isolationRate(r.rate), r.board("healthy partners")
	none := variant{site: w.last(), keyed: true, partners: addresses, subscriptions: 1, conns: o.conns[0]}
	one, five := none, none
	one.hanging, five.hanging = 1, mostHanging
	err := rotate(o.rounds, w.turns(ctx, []variant{none, one, five}, func(v variant, partners []testPartner) {
		defer r.peak(w)
		healthy := func(i int) bool { return i%len(partners) >= mostHanging }
		f, _ := w.arrivalRound(ctx, v, partners, rate, warmTime, o.isolation, healthy)
		b.add(v.String(), f)
		fmt.Printf("%v at %d events/s: healthy call → receiver p50 %.1f ms, p99 %.1f ms\n", v, rate, f["p50 ms"], f["p99 ms"])
	}))
	r.addRatio("hanging", b.ratio(five.String(), none.String(), "p99 ms"))
	for _, v := range []variant{one, five} {
		fmt.Printf("%v ÷ none hang: p99 %v\n", v, b.ratio(v.String(), none.String(), "p99 ms"))
	}
	check(err)
}
