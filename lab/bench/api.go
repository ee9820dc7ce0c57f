package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	paths "partnerdeposits/core/site"
	"partnerdeposits/lab/bench/pgbench"
	"partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

// pgbenchTurn runs a script while no process of the service runs.
func (w *workbench) pgbenchTurn(ctx context.Context, script string, partners int, o options, b *board) turn {
	return func() {
		check(w.leave())
		w.checkpoint(ctx)
		var result pgbench.Result
		f := w.cost(ctx, func() int {
			result = must(w.yardstick.Run(ctx, script, partners, o.round))
			return result.N
		}).figures()
		f["rate"], f["generator"] = result.Rate, result.CPU*1000/float64(result.N)
		for _, other := range []string{"commits", "redis cmd", "redis B"} {
			// of a database that pgbench does not use, and of Redis
			delete(f, other)
		}
		b.add(pgbenchName(partners), f)
	}
}

func pgbenchName(partners int) string {
	return fmt.Sprintf("pgbench, %s, %d connections", count(partners, "partner"), pgbench.Clients)
}

func (w *workbench) openPgbench(ctx context.Context) {
	if w.yardstick == nil {
		url := must(world.Create(ctx, w.services.PostgresURL, "pgbench", ""))
		w.yardstick = must(pgbench.Open(ctx, url, w.services.Postgres.Pid()))
	}
}

// measurePostRates creates deposits for the length of a round, in each variant, and runs pgbench in turn with them.
func measurePostRates(ctx context.Context, w *workbench, o options, r *results) {
	w.openPgbench(ctx)
	all := w.variants(o, o.conns, []int{1})
	b := r.board("POST deposits", w.pairs(all)...)
	turns := w.turns(ctx, all, func(v variant, partners []testPartner) {
		_, f := w.createRound(ctx, v, partners, o)
		b.add(v.String(), f)
	})
	for _, partners := range o.partners {
		turns = append(turns, w.pgbenchTurn(ctx, pgbench.Post, partners, o, b))
	}
	err := rotate(o.rounds, turns)
	slices.SortStableFunc(all, func(a, b variant) int { return cmp.Compare(a.partners, b.partners) })
	for _, v := range all {
		if v.keyed && v.conns == pgbench.Clients {
			b.pairs = append(b.pairs, pair{v.String(), pgbenchName(v.partners)})
			if v.site == w.last() {
				r.addRatio("posts", b.ratio(v.String(), pgbenchName(v.partners), "rate"), count(v.partners, "partner"))
			}
		}
	}
	check(err)
}

// createRound creates deposits for the length of a round, after a warm-up, and returns them with their cost.
func (w *workbench) createRound(ctx context.Context, v variant, partners []testPartner,
	o options) (all []made, f figures) {
	w.warmUp(ctx, v, partners, o)
	spent := w.cost(ctx, func() int {
		all = w.deposits(ctx, lasting(o.round), v.conns, v.keyed, inTurn(partners))
		return len(all)
	})
	return all, w.withMemory(spent.figures())
}

// measureReads reads deposits one by one and in lists of 100, for the length of a round each.
func measureReads(ctx context.Context, w *workbench, o options, r *results) {
	w.openPgbench(ctx)
	o.keys, o.partners = []bool{false}, o.partners[:1] // a GET has no key
	all := w.variants(o, []int{pgbench.Clients}, []int{1})
	last := all[len(all)-1]
	compared := pair{last.String(), pgbenchName(last.partners)}
	get := r.board("GET deposit", append(w.pairs(all), compared)...)
	lists := r.board("list of 100 deposits", w.pairs(all)...)
	turns := w.turns(ctx, all, func(v variant, partners []testPartner) {
		const maxStored = 6000 // 200 of each of 30 partners
		w.warmUp(ctx, v, partners, o)
		stored := w.deposits(ctx, calls(maxStored), v.conns, false, inTurn(partners))
		for _, reading := range []struct {
			board *board
			path  func(made) string
		}{
			{get, func(m made) string { return "/deposits/" + m.id }},
			{lists, func(made) string { return "/deposits?limit=100" }},
		} {
			read := func(i int) error {
				m := stored[i*7919%len(stored)] // a prime number: no order that a cache could follow
				_, err := w.api.do(request{method: "GET", path: reading.path(m), apiKey: m.owner.Key})
				return err
			}
			must(load.Closed(ctx, lasting(min(time.Second, o.round/3)), v.conns, read)) // warms up
			spent := w.cost(ctx, func() int { return must(load.Closed(ctx, lasting(o.round), v.conns, read)).N() })
			reading.board.add(v.String(), w.withMemory(spent.figures()))
		}
	})
	err := rotate(o.rounds, append(turns, w.pgbenchTurn(ctx, pgbench.Get, last.partners, o, get)))
	r.addRatio("gets", get.ratio(compared.variant, compared.to, "rate"))
	check(err)
}

// measureRedis reads Redis's memory after keyed calls without a pause.
func measureRedis(ctx context.Context, w *workbench, o options, r *results) {
	w.enter(ctx, w.last())
	partners := w.newPartners(ctx, variant{partners: o.partners[0], subscriptions: 1})
	spent := w.cost(ctx, func() int {
		return len(w.deposits(ctx, calls(o.calls), pgbench.Clients, true, inTurn(partners)))
	})
	peak := peakMB(w.services.Redis.Pid())
	r.add("Redis keyed", float64(peak), fmt.Sprintf("%d MB", peak), o.calls)
	fmt.Printf("Redis after %d keyed POSTs in %.0f s: peak of the process %d MB, used_memory %d MB (%d MB before)\n",
		o.calls, spent.seconds(), peak, int(spent.to.memory)>>20, int(spent.from.memory)>>20)
}

const (
	noticesPerSecond = 1_000 // unsigned
	besidePerSecond  = 100   // POSTs of deposits, which are measured
)

// measureNotices posts deposits at a steady rate, with and without unsigned notices of the payment provider beside
// them, in turn.
func measureNotices(ctx context.Context, w *workbench, o options, r *results) {
	w.settings = map[string][]string{
		"http": {"PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=sk_test_bench", "STRIPE_WEBHOOK_SECRET=whsec_bench"},
	}
	defer func() { w.settings = nil }()
	const without, beside = "no notices", "1,000 unsigned notices/s"
	b, seconds := r.board("POST deposits beside notices"), int(o.notices.Seconds())
	err := rotate(o.rounds, []turn{
		func() { b.add(without, w.noticesRound(ctx, seconds, 0)) },
		func() { b.add(beside, w.noticesRound(ctx, seconds, seconds*noticesPerSecond)) },
	})
	r.addRatio("notices", b.ratio(beside, without, "p99 ms"))
	check(err)
}

func (w *workbench) noticesRound(ctx context.Context, seconds, notices int) figures {
	w.enter(ctx, w.last())
	t := w.newPartner(ctx)
	w.deposits(ctx, calls(2*besidePerSecond), 8, true, inTurn([]testPartner{t})) // warms up
	sent := make(chan error, 1)
	go func() { sent <- w.sendNotices(ctx, notices) }()
	var times, late *load.Times
	spent := w.cost(ctx, func() int {
		times, late = open(ctx, seconds*besidePerSecond, besidePerSecond, func(i int, _ time.Time) error {
			_, err := w.create(&t, i, true)
			return err
		})
		return times.N()
	})
	check(<-sent)
	return spent.figures().withLatency(times, late)
}

// sendNotices posts n unsigned notices at a steady rate. Every answer must be a 400.
func (w *workbench) sendNotices(ctx context.Context, n int) error {
	const body = `{"id":"evt_1","object":"event","type":"payment_intent.succeeded",` +
		`"data":{"object":{"id":"pi_1","object":"payment_intent"}}}`
	_, _, err := load.Open(ctx, n, noticesPerSecond, func(int, time.Time) error {
		status, _, err := w.api.send(http.MethodPost, paths.ProviderCallbacks+"stripe", body, nil)
		if err == nil && status != http.StatusBadRequest {
			err = fmt.Errorf("an unsigned notice was answered with %d", status)
		}
		return err
	})
	return err
}
