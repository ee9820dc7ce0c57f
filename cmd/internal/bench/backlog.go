package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// backlog is how backlogs of one size were drained.
type backlog struct {
	n    int
	rate sample // deliveries/s
	cpu  sample // CPU-seconds per 1,000
}

// visits orders the drains: every size before and after the larger ones, so that a machine that slows down does so for
// all, and several times where one is over in a moment.
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

// measureBacklogs drains one backlog after the other. What is compared is the cost of a delivery, so each size begins the
// same way: tables that the sizes before left nothing in (else the last one would pay for their indexes and their vacuum),
// a dispatcher of its own, for its peak of memory, that has opened its connections and made its plans on a small backlog,
// and no writes of Postgres outstanding. The rest of the database (partners, deposits, their history) stays.
func measureBacklogs(ctx context.Context, w *world, o options, r *results) error {
	const warmUp = 1000
	for _, n := range visits(o.backlogs) {
		if err := w.dispatcher.Stop(grace); err != nil {
			return err
		}
		if _, err := w.pool.Exec(ctx, `TRUNCATE outbox, events, deliveries, delivery_attempts`); err != nil {
			return err
		}
		if err := w.startDispatcher(ctx); err != nil {
			return err
		}
		t, err := w.newTenancy(ctx, w.sink+"/")
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

// drained takes note of one drain.
func (r *results) drained(n int, rate, cpu float64) {
	i := slices.IndexFunc(r.backlogs, func(b backlog) bool { return b.n == n })
	if i < 0 {
		i = len(r.backlogs)
		r.backlogs = append(r.backlogs, backlog{n: n})
	}
	r.backlogs[i].rate = append(r.backlogs[i].rate, rate)
	r.backlogs[i].cpu = append(r.backlogs[i].cpu, cpu)
}

// drain has a backlog appear before the waiting dispatcher and waits until it is delivered. All of it becomes visible in
// one commit, so that nothing of it is delivered while it loads, and nothing of its loading is counted.
func (w *world) drain(ctx context.Context, t tenancy, n int) (elapsed time.Duration, used usage, err error) {
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

// preload fills the outbox with events a millisecond apart, the last one now, as they are when the API went on without a
// dispatcher: in the order of their ids.
func preload(ctx context.Context, tx pgx.Tx, t tenancy, n int) error {
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

// checkpoint leaves Postgres nothing to write that others did.
func (w *world) checkpoint(ctx context.Context) error {
	_, err := w.pool.Exec(ctx, `CHECKPOINT`)
	return err
}
