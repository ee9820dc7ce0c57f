package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// backlog holds the figures of draining backlogs of the same size.
type backlog struct {
	n    int
	rate sample // deliveries/s
	cpu  sample // CPU-seconds per 1,000 deliveries
}

// visits gives the order of the drains. Every size is drained before and after the larger sizes, so that a machine that
// slows down affects all sizes alike. Sizes that drain quickly are drained several times.
func visits(sizes []int) (order []int) {
	const enough, most = 30_000, 3
	sizes = slices.Sorted(slices.Values(sizes))
	for i, n := range sizes {
		several := slices.Repeat([]int{n}, min(max(enough/n, 1), most))
		order = slices.Insert(order, len(order)/2, several...)
		if i < len(sizes)-1 {
			order = slices.Insert(order, len(order)/2, several...)
		}
	}
	return order
}

// measureBacklogs drains a backlog of each size and compares the cost per delivery. Every drain begins in the same
// state: empty queue tables, a new dispatcher with open connections and prepared plans (a small backlog warms it up),
// and no outstanding writes of Postgres. Partners, deposits and history stay.
func measureBacklogs(ctx context.Context, w *world, o options, r *results) error {
	const warmUp = 1000
	i := slices.IndexFunc(w.sites, func(s *site) bool { return s.owners == nil })
	if i < 0 {
		fmt.Println("backlog: left out; it would empty the tables that -stock has filled")
		return nil
	}
	if w.site.owners != nil {
		if err := w.enter(ctx, w.sites[i]); err != nil {
			return err
		}
	}
	for _, n := range visits(o.backlogs) {
		if err := w.leave(); err != nil {
			return err
		}
		if _, err := w.pool.Exec(ctx, `TRUNCATE outbox, events, deliveries, delivery_attempts`); err != nil {
			return err
		}
		if err := w.enter(ctx, w.site); err != nil {
			return err
		}
		t, err := w.newPartner(ctx, w.sink+"/")
		if err != nil {
			return err
		}
		if _, _, err := w.drain(ctx, t, warmUp); err != nil {
			return err
		}
		elapsed, used, err := w.drain(ctx, t, n)
		if err != nil {
			return err
		}
		rate := float64(n) / elapsed.Seconds()
		r.drained(n, rate, used.total()*1000/float64(n))
		fmt.Printf("backlog %9d %6.0f deliveries/s, CPU s/1,000 %s, peak memory %s\n", n, rate, used.per(n), r.peak(w))
	}
	return nil
}

// drained records the figures of a drain.
func (r *results) drained(n int, rate, cpu float64) {
	i := slices.IndexFunc(r.backlogs, func(b backlog) bool { return b.n == n })
	if i < 0 {
		i = len(r.backlogs)
		r.backlogs = append(r.backlogs, backlog{n: n})
	}
	r.backlogs[i].rate = append(r.backlogs[i].rate, rate)
	r.backlogs[i].cpu = append(r.backlogs[i].cpu, cpu)
}

// drain commits a backlog before the eyes of a waiting dispatcher and waits until all of it is delivered. A single
// commit makes the backlog visible, so neither deliveries nor CPU of the loading are counted.
func (w *world) drain(ctx context.Context, t testPartner, n int) (elapsed time.Duration, used usage, err error) {
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := errors.Join(preload(ctx, tx, t, n), w.checkpoint(ctx)); err != nil {
		return 0, nil, err
	}
	took, before, began := w.taken(), w.usage(), time.Now()
	if err := tx.Commit(ctx); err != nil {
		return 0, nil, err
	}
	if err := w.awaitTaken(ctx, took, n, 20*time.Minute); err != nil {
		return 0, nil, err
	}
	return time.Since(began), w.usage().since(before), nil
}

// preload fills the outbox with events a millisecond apart, the last of them now, in the order of their ids, as the API
// leaves them without a dispatcher.
func preload(ctx context.Context, tx pgx.Tx, t testPartner, n int) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox (event_id, partner_id, name, deposit_id, created_at, data)
		SELECT (substr(uuid_floor(at)::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, $1, 'deposit.cancelled', gen_random_uuid(), at,
			'{"id":"dep_' || i || '","reference":"D-7K3M-9Q2X","rentalContract":"B-1","status":"cancelled","previousStatus":"pending","amountCents":50000,"contractStartAt":"2026-07-01T12:00:00.000Z","contractEndAt":"2026-07-08T12:00:00.000Z","client":null,"partnerContext":{"partnerId":"prt_x","partnerName":"Bench","externalId":"bench"}}'
		FROM generate_series(1, $2::int) AS i, LATERAL (SELECT now() - ($2::int - i) * interval '1 millisecond' AS at) AS clock`, t.partner, n)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `ANALYZE outbox`)
	return err
}

// checkpoint makes Postgres write all dirty pages, so that a drain does not pay for earlier writes.
func (w *world) checkpoint(ctx context.Context) error {
	_, err := w.pool.Exec(ctx, `CHECKPOINT`)
	return err
}
