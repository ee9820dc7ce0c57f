package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"partnerdeposits/lab/bench/pgbench"
)

// yardstick is the rate of the service, relative to pgbench's rate with the same statements.
type yardstick struct {
	posts map[int]ratio // by the number of partners
	get   *ratio
}

// pgbenchTurn runs a script while no process of the service runs.
func (w *world) pgbenchTurn(d *pgbench.Database, script string, v variant, o options, b *board) turn {
	return func(ctx context.Context) error {
		if err := errors.Join(w.leave(), w.checkpoint(ctx)); err != nil {
			return err
		}
		from, err := w.read(ctx)
		if err != nil {
			return err
		}
		result, err := d.Run(ctx, script, v.partners, o.round)
		if err != nil {
			return err
		}
		spent, err := w.since(ctx, from, result.N)
		if err != nil {
			return err
		}
		f := spent.figures()
		f["rate"], f["generator"] = result.Rate, result.CPU*1000/float64(result.N)
		for _, other := range []string{"commits", "redis cmd", "redis B"} { // of a database that pgbench does not use, and of Redis
			delete(f, other)
		}
		b.add(pgbenchName(v), f)
		fmt.Printf("%s: %.0f/s, CPU s/1,000 of Postgres %.3f\n", pgbenchName(v), result.Rate, f["postgres"])
		return nil
	}
}

func pgbenchName(v variant) string {
	return fmt.Sprintf("pgbench, %s, %d connections", count(v.partners, "partner"), pgbench.Clients)
}

func (w *world) openPgbench(ctx context.Context) (*pgbench.Database, error) {
	if w.yardstick != nil {
		return w.yardstick, nil
	}
	url, err := createDatabase(ctx, w.services.PostgresURL, "pgbench")
	if err != nil {
		return nil, err
	}
	w.yardstick, err = pgbench.Open(ctx, url, w.services.Postgres.Pid())
	return w.yardstick, err
}

// measurePostRates creates deposits for the length of a round, in each variant, and runs pgbench in turn with them.
func measurePostRates(ctx context.Context, w *world, o options, r *results) error {
	yard, err := w.openPgbench(ctx)
	if err != nil {
		return err
	}
	all, b := w.variants(o, o.conns, []int{1}), newBoard("POST deposits")
	turns := w.turns(all, func(ctx context.Context, v variant, partners []testPartner) error {
		return w.postRound(ctx, v, partners, o, b)
	})
	for _, partners := range o.partners {
		turns = append(turns, w.pgbenchTurn(yard, pgbench.Post, variant{partners: partners}, o, b))
	}
	err = rotate(ctx, o.rounds, turns)
	r.yardstick.posts = map[int]ratio{}
	compared := w.pairs(all)
	for _, v := range all {
		if v.keyed && v.conns == pgbench.Clients {
			compared = append(compared, pair{v.String(), pgbenchName(v)})
			r.yardstick.posts[v.partners] = b.ratio(v.String(), pgbenchName(v), "rate") // of the last site in the end
		}
	}
	return errors.Join(err, b.print(os.Stdout), b.printRatios(os.Stdout, compared))
}

func (w *world) postRound(ctx context.Context, v variant, partners []testPartner, o options, b *board) error {
	ids, spent, err := w.createRound(ctx, v, partners, o)
	if err != nil {
		return err
	}
	b.add(v.String(), w.withMemory(spent.figures()))
	fmt.Printf("%v: POST deposits %.0f/s, CPU s/1,000 %s\n", v, spent.rate(), spent.to.cpu.since(spent.from.cpu).per(len(ids)))
	return nil
}

// createRound creates deposits for the length of a round, after a warm-up, and returns them with their cost.
func (w *world) createRound(ctx context.Context, v variant, partners []testPartner, o options) (ids []made, spent cost, err error) {
	if err := w.warmUp(ctx, v, partners, o); err != nil {
		return nil, spent, err
	}
	from, err := w.read(ctx)
	if err != nil {
		return nil, spent, err
	}
	if ids, err = w.deposits(ctx, lasting(o.round), v.conns, v.keyed, inTurn(partners)); err != nil {
		return nil, spent, err
	}
	spent, err = w.since(ctx, from, len(ids))
	return ids, spent, err
}

// measureReads reads deposits one by one and in lists of 100, for the length of a round each.
func measureReads(ctx context.Context, w *world, o options, r *results) error {
	yard, err := w.openPgbench(ctx)
	if err != nil {
		return err
	}
	o.keys, o.partners = []bool{false}, o.partners[:1] // a GET has no key
	all := w.variants(o, []int{pgbench.Clients}, []int{1})
	get, lists := newBoard("GET deposit"), newBoard("list of 100 deposits")
	turns := w.turns(all, func(ctx context.Context, v variant, partners []testPartner) error {
		return w.readRound(ctx, v, partners, o, get, lists)
	})
	for _, v := range all[:1] {
		turns = append(turns, w.pgbenchTurn(yard, pgbench.Get, v, o, get))
	}
	err = rotate(ctx, o.rounds, turns)
	last := all[len(all)-1]
	found := get.ratio(last.String(), pgbenchName(last), "rate")
	r.yardstick.get = &found
	return errors.Join(err, get.print(os.Stdout), get.printRatios(os.Stdout, append(w.pairs(all), pair{last.String(), pgbenchName(last)})),
		lists.print(os.Stdout), lists.printRatios(os.Stdout, w.pairs(all)))
}

func (w *world) readRound(ctx context.Context, v variant, partners []testPartner, o options, get, lists *board) error {
	const stored = 6000 // 200 of each of 30 partners
	if err := w.warmUp(ctx, v, partners, o); err != nil {
		return err
	}
	all, err := w.deposits(ctx, calls(stored), v.conns, false, inTurn(partners))
	if err != nil {
		return err
	}
	for _, reading := range []struct {
		board *board
		path  func(made) string
	}{
		{get, func(m made) string { return "/deposits/" + m.id }},
		{lists, func(made) string { return "/deposits?limit=100" }},
	} {
		read := func(c *caller, i int) error {
			m := all[i*7919%len(all)] // a prime number: no order that a cache could follow
			_, err := c.do(request{method: "GET", path: reading.path(m), apiKey: m.owner.key})
			return err
		}
		if _, err := w.each(ctx, lasting(min(time.Second, o.round/3)), v.conns, read); err != nil { // warms up
			return err
		}
		from, err := w.read(ctx)
		if err != nil {
			return err
		}
		n, err := w.each(ctx, lasting(o.round), v.conns, read)
		if err != nil {
			return err
		}
		spent, err := w.since(ctx, from, n)
		if err != nil {
			return err
		}
		reading.board.add(v.String(), w.withMemory(spent.figures()))
		fmt.Printf("%v: %s %.0f/s, CPU s/1,000 %s\n", v, reading.board.operation, spent.rate(), spent.to.cpu.since(from.cpu).per(n))
	}
	return nil
}

// measureRedis reads Redis's memory after keyed calls without a pause.
func measureRedis(ctx context.Context, w *world, o options, r *results) error {
	last := w.sites[len(w.sites)-1]
	if err := w.enter(ctx, last); err != nil {
		return err
	}
	partners, err := w.newPartners(ctx, variant{partners: o.partners[0], subscriptions: 1})
	if err != nil {
		return err
	}
	from, err := w.read(ctx)
	if err != nil {
		return err
	}
	if _, err := w.deposits(ctx, calls(o.calls), pgbench.Clients, true, inTurn(partners)); err != nil {
		return err
	}
	spent, err := w.since(ctx, from, o.calls)
	if err != nil {
		return err
	}
	const mb = 1 << 20
	r.redisKeyed = &redisKeyed{calls: o.calls, peak: peakMB(w.services.Redis.Pid()), used: int(spent.to.memory / mb)}
	fmt.Printf("Redis after %d keyed POSTs in %.0f s: peak of the process %d MB, used_memory %d MB (%d MB before)\n",
		o.calls, spent.to.at.Sub(from.at).Seconds(), r.redisKeyed.peak, r.redisKeyed.used, int(from.memory/mb))
	return nil
}

// redisKeyed is Redis's memory after keyed calls, in MB.
type redisKeyed struct{ calls, peak, used int }
