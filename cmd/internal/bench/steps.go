package main

import (
	"context"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/system"
)

func measureThroughput(ctx context.Context, w *world, o options) error {
	t, err := w.newTenancy(ctx, "/")
	if err != nil {
		return err
	}
	whose := func(int) tenancy { return t }
	began, before := time.Now(), w.usage()
	ids, err := w.deposits(ctx, o.n, o.conns, whose)
	if err != nil {
		return err
	}
	created := time.Since(began)
	fmt.Printf("create            %6.0f deposits/s, CPU s/1,000 %s\n", float64(o.n)/created.Seconds(), w.usage().since(before).per(o.n))

	since, took := system.Clock{}.Now(), w.taken()
	began, before = time.Now(), w.usage()
	if err := each(ctx, len(ids), o.conns, func(c *fasthttp.Client, i int) error { return w.cancel(c, t, ids[i]) }); err != nil {
		return err
	}
	cancelled := time.Since(began)
	if err := w.awaitTaken(ctx, took, o.n, 5*time.Minute); err != nil {
		return err
	}
	elapsed, used := time.Since(began), w.usage().since(before)
	fmt.Printf("deliver           %6.0f deliveries/s end to end (API alone %.0f/s), CPU s/1,000 %s\n",
		float64(o.n)/elapsed.Seconds(), float64(o.n)/cancelled.Seconds(), used.per(o.n))
	if extra := w.taken() - took - o.n; extra != 0 {
		fmt.Printf("                  %d deliveries too many\n", extra)
	}
	fmt.Printf("                  peak memory: http %d MB, dispatcher %d MB, redis %d MB\n",
		peakMB(w.http.Pid()), peakMB(w.dispatcher.Pid()), peakMB(w.services.Redis.Pid()))
	return w.printLatency(ctx, "                  under that load", t, since)
}

func measureLatency(ctx context.Context, w *world, o options) error {
	t, err := w.newTenancy(ctx, "/")
	if err != nil {
		return err
	}
	const rate = 20
	whose := func(int) tenancy { return t }
	ids, err := w.deposits(ctx, int(o.latency.Seconds())*rate, 8, whose)
	if err != nil {
		return err
	}
	since, took := system.Clock{}.Now(), w.taken()
	if err := w.paced(ctx, ids, rate, whose); err != nil {
		return err
	}
	if err := w.awaitTaken(ctx, took, len(ids), time.Minute); err != nil {
		return err
	}
	return w.printLatency(ctx, "at 20 events/s", t, since)
}

// isolationRate is about a third of what the machine delivers at full speed when nobody hangs.
const isolationRate = 400

func measureIsolation(ctx context.Context, w *world, o options) error {
	for _, hanging := range []bool{false, true} {
		good, err := w.newTenancy(ctx, "/")
		if err != nil {
			return err
		}
		bad, path := good, "/"
		if hanging {
			path = "/hang"
		}
		if bad, err = w.newTenancy(ctx, path); err != nil {
			return err
		}
		whose := func(i int) tenancy {
			if i%5 == 0 {
				return bad
			}
			return good
		}
		n := int(o.isolation.Seconds()) * isolationRate
		ids, err := w.deposits(ctx, n, o.conns, whose)
		if err != nil {
			return err
		}
		since, took, began := system.Clock{}.Now(), w.taken(), time.Now()
		if err := w.paced(ctx, ids, isolationRate, whose); err != nil {
			return err
		}
		want := n
		if hanging {
			want = n - (n+4)/5
		}
		if err := w.awaitTaken(ctx, took, want, 2*time.Minute); err != nil {
			return err
		}
		label := "a fifth elsewhere"
		if hanging {
			label = "a fifth hangs    "
		}
		fmt.Printf("%s %6.0f healthy deliveries/s\n", label, float64(want)/time.Since(began).Seconds())
		if err := w.printLatency(ctx, "                  healthy", good, since); err != nil {
			return err
		}
	}
	return nil
}

// printLatency reads from the delivery log how long it took from the commit of a change to the end of its successful POST.
func (w *world) printLatency(ctx context.Context, label string, t tenancy, since time.Time) error {
	var p50, p99, most float64
	var n int
	for range 100 { // results are committed in groups, a moment after the receiver has them
		err := w.pool.QueryRow(ctx, `
			SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), 0), coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms), 0), coalesce(max(ms), 0), count(*)
			FROM (
				SELECT extract(epoch FROM d.taken_at - d.event_at) * 1000 + d.taken_ms AS ms
				FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
				WHERE d.state = 2 AND s.partner_id = $1 AND d.event_at >= $2) AS l`, t.partner, since).Scan(&p50, &p99, &most, &n)
		if err != nil {
			return err
		}
		if n > 0 {
			break
		}
	}
	fmt.Printf("%s: commit → 2xx p50 %.1f ms, p99 %.1f ms, max %.1f ms (%d)\n", label, p50, p99, most, n)
	return nil
}

func measureBacklogs(ctx context.Context, w *world, o options) error {
	for _, n := range o.backlogs {
		t, err := w.newTenancy(ctx, "/")
		if err != nil {
			return err
		}
		if err := w.dispatcher.Stop(grace); err != nil {
			return err
		}
		if _, err := w.pool.Exec(ctx, `
			INSERT INTO outbox (event_id, partner_id, name, deposit_id, created_at, data)
			SELECT (substr(uuid_floor(now())::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, $1, 'deposit.cancelled', gen_random_uuid(), now(),
				'{"id":"dep_' || i || '","reference":"D-7K3M-9Q2X","rentalContract":"B-1","status":"cancelled","previousStatus":"pending","amountCents":50000,"contractStartAt":"2026-07-01T12:00:00.000Z","contractEndAt":"2026-07-08T12:00:00.000Z","client":null,"partnerContext":{"partnerId":"prt_x","partnerName":"Bench","externalId":"bench"}}'
			FROM generate_series(1, $2) AS i`, t.partner, n); err != nil {
			return err
		}
		took := w.taken()
		if err := w.startDispatcher(ctx); err != nil {
			return err
		}
		began, before := time.Now(), w.usage()
		if err := w.awaitTaken(ctx, took, n, 20*time.Minute); err != nil {
			return err
		}
		elapsed, used := time.Since(began), w.usage().since(before)
		fmt.Printf("backlog %9d %6.0f deliveries/s, CPU s/1,000 %s, peak memory dispatcher %d MB, redis %d MB\n", n,
			float64(n)/elapsed.Seconds(), used.per(n), peakMB(w.dispatcher.Pid()), peakMB(w.services.Redis.Pid()))
	}
	return nil
}
