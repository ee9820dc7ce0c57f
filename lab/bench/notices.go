package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"partnerdeposits/adapters/http/paymentnotices"
)

const (
	noticesPerSecond = 1_000 // unsigned
	besidePerSecond  = 100   // POSTs of deposits, which are measured
)

// notices is the latency of the API beside unsigned notices of the payment provider: the p99 of POST /deposits.
type notices struct{ p99 ratio }

var noticeVariants = [2]string{"no notices", "1,000 unsigned notices/s"}

// measureNotices posts deposits at a steady rate, with and without unsigned notices beside them, in turn.
func measureNotices(ctx context.Context, w *world, o options, r *results) error {
	w.extra = []string{"PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=sk_test_bench", "STRIPE_WEBHOOK_SECRET=whsec_bench"}
	defer func() { w.extra = nil }()
	b := newBoard("POST deposits beside notices")
	var err error
	for i := 0; i < 2*o.rounds && err == nil; i++ {
		err = w.noticesRound(ctx, i%2 == 1, o.notices, b)
	}
	found := &notices{p99: b.ratio(noticeVariants[1], noticeVariants[0], "p99 ms")}
	fmt.Printf("%s ÷ %s: p99 %v\n", noticeVariants[1], noticeVariants[0], found.p99)
	r.notices = found
	return errors.Join(err, b.print(os.Stdout))
}

func (w *world) noticesRound(ctx context.Context, beside bool, length time.Duration, b *board) error {
	if err := w.enter(ctx, w.sites[len(w.sites)-1]); err != nil {
		return err
	}
	t, err := w.newPartner(ctx)
	if err != nil {
		return err
	}
	const warmUp = 2 * besidePerSecond
	if _, err := w.deposits(ctx, calls(warmUp), 8, true, inTurn([]testPartner{t})); err != nil {
		return err
	}
	flood, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan error, 1)
	if beside {
		go func() { sent <- w.sendNotices(flood, int(length.Seconds())*noticesPerSecond) }()
	} else {
		sent <- nil
	}
	n := int(length.Seconds() * besidePerSecond)
	ms := make(sample, n)
	from, err := w.read(ctx)
	if err != nil {
		return err
	}
	late, err := w.paced(ctx, n, besidePerSecond, func(c *caller, i int) error {
		began := time.Now()
		_, err := c.do(request{method: "POST", path: "/deposits", apiKey: t.key, keyed: true, body: t.depositBody(i)})
		ms[i] = time.Since(began).Seconds() * 1000
		return err
	})
	if err != nil {
		return err
	}
	spent, err := w.since(ctx, from, n)
	if err != nil {
		return err
	}
	if err := <-sent; err != nil {
		return err
	}
	f := spent.figures().withLatency(ms, late)
	b.add(noticeVariants[which(beside)], f)
	fmt.Printf("%s: POST deposits at %d/s p50 %.1f ms, p99 %.1f ms; commits %.1f and Redis commands %.1f for each\n",
		noticeVariants[which(beside)], besidePerSecond, f["p50 ms"], f["p99 ms"], f["commits"], f["redis cmd"])
	return nil
}

// sendNotices posts n unsigned notices at a steady rate. Every answer must be a 400.
func (w *world) sendNotices(ctx context.Context, n int) error {
	client := &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: mostOpen}}
	defer client.CloseIdleConnections()
	const body = `{"id":"evt_1","object":"event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","object":"payment_intent"}}}`
	_, err := w.paced(ctx, n, noticesPerSecond, func(*caller, int) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.api+paymentnotices.Path, strings.NewReader(body))
		if err != nil {
			return err
		}
		res, err := client.Do(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusBadRequest {
			err = fmt.Errorf("an unsigned notice was answered with %d", res.StatusCode)
		}
		return err
	})
	return err
}
