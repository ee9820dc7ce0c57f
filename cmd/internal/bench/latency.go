package main

import (
	"context"
	"fmt"
	"time"

	"partnerdeposits/adapters/system"
)

// latency is the time in ms from the commit of a change to the end of the POST that was answered with a 2xx.
type latency struct {
	p50, p99, most float64
	n              int
}

func (l latency) String() string {
	return fmt.Sprintf("commit → 2xx p50 %.1f ms, p99 %.1f ms, max %.1f ms (%d)", l.p50, l.p99, l.most, l.n)
}

// latency reads the times of the last n deliveries since a time from the delivery log. The dispatcher records outcomes
// in batches, shortly after the receiver has the deliveries.
func (w *world) latency(ctx context.Context, t testPartner, since time.Time, n int) (l latency, err error) {
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
				WHERE d.state = 2 AND d.subscription_id = $1 AND d.event_at >= $2) AS l`, t.subscription, since).Scan(&l.p50, &l.p99, &l.most, &l.n)
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

func measureLatency(ctx context.Context, w *world, o options, r *results) error {
	t, err := w.newPartner(ctx, w.sink+"/")
	if err != nil {
		return err
	}
	const rate = 20
	whose := func(int) testPartner { return t }
	ids, err := w.deposits(ctx, int(o.latency.Seconds()*rate), 8, whose)
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
	l, err := w.latency(ctx, t, since, len(ids))
	if err != nil {
		return err
	}
	fmt.Printf("at %d events/s: %s\n", rate, l)
	r.latency = &l
	return nil
}
