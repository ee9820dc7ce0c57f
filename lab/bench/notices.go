package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"partnerdeposits/adapters/http/paymentnotices"
	"partnerdeposits/lab/load"
)

const (
	noticesPerSecond = 1_000 // unsigned
	besidePerSecond  = 100   // POSTs of deposits, which are measured
)

var noticeVariants = [2]string{"no notices", "1,000 unsigned notices/s"}

// measureNotices posts deposits at a steady rate, with and without unsigned notices of the payment provider beside them, in
// turn.
func measureNotices(ctx context.Context, w *workbench, o options, r *results) {
	w.settings = map[string][]string{
		"http": {"PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=sk_test_bench", "STRIPE_WEBHOOK_SECRET=whsec_bench"},
	}
	defer func() { w.settings = nil }()
	b := r.board("POST deposits beside notices")
	err := rotate(o.rounds, []turn{
		func() { w.noticesRound(ctx, false, o.notices, b) },
		func() { w.noticesRound(ctx, true, o.notices, b) },
	})
	p99 := b.ratio(noticeVariants[1], noticeVariants[0], "p99 ms")
	fmt.Printf("%s ÷ %s: p99 %v\n", noticeVariants[1], noticeVariants[0], p99)
	r.addRatio("notices", p99)
	check(err)
}

func (w *workbench) noticesRound(ctx context.Context, beside bool, length time.Duration, b *board) {
	w.enter(ctx, w.last())
	t := w.newPartner(ctx)
	w.deposits(ctx, calls(2*besidePerSecond), 8, true, inTurn([]testPartner{t})) // warms up
	sent := make(chan error, 1)
	if beside {
		go func() { sent <- w.sendNotices(ctx, int(length.Seconds())*noticesPerSecond) }()
	} else {
		sent <- nil
	}
	var times, late *load.Times
	spent := w.cost(ctx, func() int {
		var err error
		times, late, err = load.Open(ctx, int(length.Seconds()*besidePerSecond), besidePerSecond, func(i int, _ time.Time) error {
			_, err := w.api.do(request{method: "POST", path: "/deposits", apiKey: t.Key, keyed: true, body: t.depositBody(i)})
			return err
		})
		check(err)
		return times.N()
	})
	check(<-sent)
	f, name := spent.figures().withLatency(times, late), noticeVariants[which(beside)]
	b.add(name, f)
	fmt.Printf("%s: POST deposits at %d/s p50 %.1f ms, p99 %.1f ms; commits %.1f and Redis commands %.1f for each\n",
		name, besidePerSecond, f["p50 ms"], f["p99 ms"], f["commits"], f["redis cmd"])
}

// sendNotices posts n unsigned notices at a steady rate. Every answer must be a 400.
func (w *workbench) sendNotices(ctx context.Context, n int) error {
	const body = `{"id":"evt_1","object":"event","type":"payment_intent.succeeded",` +
		`"data":{"object":{"id":"pi_1","object":"payment_intent"}}}`
	_, _, err := load.Open(ctx, n, noticesPerSecond, func(int, time.Time) error {
		status, _, err := w.api.send(http.MethodPost, paymentnotices.Path, body, nil)
		if err == nil && status != http.StatusBadRequest {
			err = fmt.Errorf("an unsigned notice was answered with %d", status)
		}
		return err
	})
	return err
}
