package main

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

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
func measureBacklogs(ctx context.Context, w *workbench, o options, r *results) {
	const warmUp = 1000
	o.conns, o.partners, o.keys = o.conns[:1], []int{1}, o.keys[:1]
	all := w.variants(o)
	last := all[len(all)-1]
	b := r.board("backlog", nil)
	for _, n := range visits(o.backlogs) {
		check(w.leave())
		must(last.site.Pool.Exec(ctx, `TRUNCATE outbox, events, deliveries, delivery_attempts`))
		w.enter(ctx, last)
		partner := w.newPartners(ctx, last)[0]
		w.drain(ctx, partner, warmUp)
		b.add(strconv.Itoa(n), w.withMemory(w.drain(ctx, partner, n)))
	}
	r.addBacklogs(b)
	r.atMost("Redis, peak of the run, MB", 50, rounded(peakMB(w.services.Redis.Pid())))
}

// addBacklogs compares the slowest rate of all sizes, by how much the CPU per delivery differs between the cheapest and
// the dearest size, and the largest dispatcher.
func (r *results) addBacklogs(b *board) {
	var rates, costs, sizes []float64
	for _, size := range b.variants {
		rates = append(rates, b.sample(size, "rate").median())
		costs = append(costs, b.sample(size, "CPU").median())
		sizes = append(sizes, b.sample(size, "disp MB")...)
	}
	r.atLeast("draining, deliveries/s of the slowest backlog", 4000, rounded(slices.Min(rates)))
	if len(costs) > 1 { // a single size cannot be compared
		spread := 100 * (slices.Max(costs)/slices.Min(costs) - 1)
		r.atMost("draining, spread of the CPU over backlogs, %", 15, rounded(spread))
	}
	r.atMost("draining, the largest dispatcher, MB", 150, rounded(slices.Max(sizes)))
}

// drain commits a backlog before the eyes of a waiting dispatcher and waits until all of it is delivered. A single
// commit makes the backlog visible, so neither deliveries nor CPU of the loading are counted.
func (w *workbench) drain(ctx context.Context, t testPartner, n int) figures {
	tx := must(w.Pool.Begin(ctx))
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	preload(ctx, tx, t, n)
	w.checkpoint(ctx)
	took := w.counted().Taken
	return w.cost(ctx, func() int {
		check(tx.Commit(ctx))
		w.awaitTaken(ctx, took+n)
		return n
	}).figures()
}

// preload fills the outbox with events a millisecond apart, the last of them now, in the order of their ids, as the API
// leaves them without a dispatcher.
func preload(ctx context.Context, tx pgx.Tx, t testPartner, n int) {
	must(tx.Exec(ctx, `
		INSERT INTO outbox (event_id, partner_id, name, deposit_id, created_at, data)
		SELECT (substr(uuid_floor(at)::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, $1,
			'deposit.cancelled', gen_random_uuid(), at,
			'{"id":"dep_' || i || '","reference":"D-7K3M-9Q2X","rentalContract":"B-1","status":"cancelled",'
			'"previousStatus":"pending","amountCents":50000,"contractStartAt":"2026-07-01T12:00:00.000Z",'
			'"contractEndAt":"2026-07-08T12:00:00.000Z","client":null,'
			'"partnerContext":{"partnerId":"prt_x","partnerName":"Bench","externalId":"bench"}}'
		FROM generate_series(1, $2::int) AS i,
			LATERAL (SELECT now() - ($2::int - i) * interval '1 millisecond' AS at) AS clock`,
		t.ID, n))
	must(tx.Exec(ctx, `ANALYZE outbox`))
}

// checkpoint makes Postgres write all dirty pages, so that a measurement does not pay for earlier writes.
func (w *workbench) checkpoint(ctx context.Context) { must(w.Pool.Exec(ctx, `CHECKPOINT`)) }
