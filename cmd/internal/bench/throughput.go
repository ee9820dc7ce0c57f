package main

import (
	"context"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/system"
)

// throughput holds the figures of repeatedly cancelling deposits as fast as the API takes the requests.
type throughput struct {
	rate sample // deliveries/s end to end
	cpu  sample // CPU-seconds per 1,000 deliveries
}

func measureThroughput(ctx context.Context, w *world, o options, r *results) error {
	const rounds = 3
	r.throughput = &throughput{}
	for range rounds {
		if err := w.throughput(ctx, o, r); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) throughput(ctx context.Context, o options, r *results) error {
	t, err := w.newPartner(ctx, w.sink+"/")
	if err != nil {
		return err
	}
	whose := func(int) testPartner { return t }
	began, before := time.Now(), w.usage()
	ids, err := w.deposits(ctx, o.n, o.conns, whose)
	if err != nil {
		return err
	}
	fmt.Printf("create            %6.0f deposits/s, CPU s/1,000 %s\n", float64(o.n)/time.Since(began).Seconds(), w.usage().since(before).per(o.n))

	since, took := system.Clock{}.Now(), w.taken()
	began, before = time.Now(), w.usage()
	if err := w.cancelAll(ctx, ids, o.conns, whose); err != nil {
		return err
	}
	cancelled := time.Since(began)
	if err := w.awaitTaken(ctx, took, o.n, 5*time.Minute); err != nil {
		return err
	}
	elapsed, used := time.Since(began), w.usage().since(before)
	rate := float64(o.n) / elapsed.Seconds()
	r.throughput.rate = append(r.throughput.rate, rate)
	r.throughput.cpu = append(r.throughput.cpu, used.total()*1000/float64(o.n))
	fmt.Printf("deliver           %6.0f deliveries/s end to end (API alone %.0f/s), CPU s/1,000 %s\n",
		rate, float64(o.n)/cancelled.Seconds(), used.per(o.n))
	if extra := w.taken() - took - o.n; extra != 0 {
		fmt.Printf("                  %d deliveries too many\n", extra)
	}
	fmt.Printf("                  peak memory: http %d MB, %s\n", peakMB(w.http.Pid()), r.peak(w))
	l, err := w.latency(ctx, t, since, o.n)
	fmt.Printf("                  under that load: %s\n", l)
	return err
}

// cancelAll cancels deposits as fast as the API takes the requests.
func (w *world) cancelAll(ctx context.Context, ids []string, conns int, whose func(i int) testPartner) error {
	return each(ctx, len(ids), conns, func(c *fasthttp.Client, i int) error { return w.cancel(c, whose(i), ids[i]) })
}
