package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

// pgbenchTurn returns a function that adds the result of a pgbench script to b, while no process of the service
// runs.
func (w *workbench) pgbenchTurn(ctx context.Context, script string, partners int, o options, b *board) func() {
	return func() {
		check(w.leave())
		w.checkpoint(ctx)
		var result pgbenchResult
		f := w.cost(ctx, func() int {
			result = w.yardstick.run(ctx, script, partners, o.round)
			return result.n
		})
		f["rate"], f["generator"] = result.rate, result.cpu*1000/float64(result.n)
		// pgbench does not use the service's database, whose commits are counted.
		delete(f, "commits")
		b.add(pgbenchName(partners), f)
	}
}

func pgbenchName(partners int) string {
	return fmt.Sprintf("pgbench, %s, %d connections", partnerCount(partners), pgbenchConns)
}

func (w *workbench) openPgbench(ctx context.Context) {
	if w.yardstick == nil {
		url := must(world.CreateDatabase(ctx, w.services.PostgresURL, "pgbench", ""))
		w.yardstick = openYardstick(ctx, url, w.services.Postgres.Pid())
	}
}

// measurePosts creates deposits through the API in each variant, in turn with pgbench's script of a POST.
func measurePosts(ctx context.Context, w *workbench, o options, r *results) {
	w.openPgbench(ctx)
	all := w.variants(o)
	compared := slices.DeleteFunc(slices.Clone(all),
		func(v loadVariant) bool { return !v.keyed || v.conns != pgbenchConns })
	b := r.board("POST deposits", w.pairs(all))
	for _, v := range compared {
		b.pairs = append(b.pairs, pair{v.String(), pgbenchName(v.partners)})
	}
	var others []func()
	for _, partners := range o.partners {
		others = append(others, w.pgbenchTurn(ctx, pgbenchPost, partners, o, b))
	}
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		w.createRound(ctx, v, partners, o.round, b)
	}, others...)
	for _, v := range compared {
		if v.site == w.sites[len(w.sites)-1] {
			r.atLeast("POST keyed ÷ pgbench, "+partnerCount(v.partners)+" (aim 2)", 1.6,
				b.ratio(v.String(), pgbenchName(v.partners), "rate"))
		}
	}
	r.atMost("Redis, peak of the run with the keys of a round, MB (aim 30)", 50, rounded(peakMB(w.services.Redis.Pid())))
}

// measureReads reads deposits through the API, in turn with pgbench's script of a GET.
func measureReads(ctx context.Context, w *workbench, o options, r *results) {
	w.openPgbench(ctx)
	// A GET has no idempotency key, so variants with and without keys are the same.
	o.keys, o.partners, o.conns = []bool{false}, o.partners[:1], []int{pgbenchConns}
	all := w.variants(o)
	compared := pair{all[len(all)-1].String(), pgbenchName(o.partners[0])}
	b := r.board("GET deposit", append(w.pairs(all), compared))
	w.rotate(ctx, o.rounds, all, func(v loadVariant, partners []world.Partner) {
		const maxStored = 6000 // maxStored bounds the deposits to read: 200 for each of 30 partners.
		w.warmUp(ctx, v, partners, o.round)
		stored := w.deposits(ctx, calls(maxStored), v, partners)
		read := func(i int) error {
			// A prime factor gives an order of the reads that no cache could predict.
			m := stored[i*7919%len(stored)]
			_, err := w.api.do(request{method: "GET", path: "/deposits/" + m.id, apiKey: m.owner.Key})
			return err
		}
		// A load before the measurement warms up connections and caches.
		must(load.RunClosedLoop(ctx, lasting(min(time.Second, o.round/3)), v.conns, read))
		b.add(v.String(), w.cost(ctx, func() int {
			return must(load.RunClosedLoop(ctx, lasting(o.round), v.conns,
				read)).Count()
		}))
	}, w.pgbenchTurn(ctx, pgbenchGet, o.partners[0], o, b))
	r.atLeast("GET ÷ pgbench's SELECT, rate (aim 0.45)", 0.35, b.ratio(compared.variant, compared.to, "rate"))
}
