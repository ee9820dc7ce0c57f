package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/load"
	"partnerdeposits/lab/world"
)

// feedRate is the number of events a second, of all partners together, at which the feed has a target.
const feedRate = 500

// measureFeed cancels deposits at a steady rate while a follower of each partner's feed waits, and while none does.
func measureFeed(ctx context.Context, w *workbench, o options, r *results) {
	plain := variant{site: w.last(), keyed: true, partners: addresses, subscriptions: 1, conns: o.conns[0]}
	followed := plain
	followed.followed = true
	b := r.board(fmt.Sprintf("feed at %d events/s", feedRate), pair{followed.String(), plain.String()})
	err := rotate(o.rounds, w.turns(ctx, []variant{plain, followed}, func(v variant, partners []testPartner) {
		defer r.peak(w)
		w.warmUp(ctx, v, partners, o)
		all := w.deposits(ctx, calls(int(o.feed.Seconds()*feedRate)), v.conns, v.keyed, inTurn(partners))
		var waiting *waiters
		if v.followed {
			waiting = w.follow(ctx, partners)
			defer waiting.stop()
		}
		since := system.Clock{}.Now()
		p := w.cancelPaced(ctx, all, feedRate, v.keyed, w.taken()+len(all))
		f := w.withMemory(p.spent.figures())
		f["late ms"] = p.late.Percentile(100)
		if v.followed {
			f = f.withLatency(w.followed(ctx, waiting, since, len(all), partners), p.late)
		}
		b.add(v.String(), f)
	}))
	p99 := b.sample(followed.String(), "p99 ms")
	r.add("feed", slices.Max(append(sample{0}, p99...)), p99.show(1, true)+" ms")
	check(err)
}

// followed gives the times of n events from their commits to their followers. Both clocks are this machine's.
func (w *workbench) followed(ctx context.Context, waiting *waiters, since time.Time, n int,
	partners []testPartner) *load.Times {
	err := poll(ctx, world.StartLimit, 20*time.Millisecond, func() bool {
		waiting.mu.Lock()
		defer waiting.mu.Unlock()
		return len(waiting.arrived) >= n
	})
	if err != nil {
		check(fmt.Errorf("%d of %d events were followed: %w", len(waiting.arrived), n, err))
	}
	rows := must(
		w.Pool.Query(ctx, `SELECT deposit_id, event_at FROM deliveries WHERE subscription_id = ANY ($1) AND event_at >= $2`,
			subscriptionsOf(partners), since))
	times := load.NewTimes()
	var deposit id.ID
	var committed time.Time
	must(pgx.ForEachRow(rows, []any{&deposit, &committed}, func() error {
		at, found := waiting.arrived[id.Deposit.Of(deposit)]
		if !found {
			return fmt.Errorf("%s was delivered and not followed", id.Deposit.Of(deposit))
		}
		times.Add(at.Sub(committed))
		return nil
	}))
	if times.N() < n {
		check(fmt.Errorf("%d of %d deliveries are in the log", times.N(), n))
	}
	return times
}

// feedWait is the waitSeconds of each request for the feed: the maximum of the API.
const feedWait = 25

// waiters are followers of feeds, each with a request that waits.
type waiters struct {
	client *world.Client
	base   string
	cancel context.CancelFunc
	group  errgroup.Group

	mu      sync.Mutex
	arrived map[string]time.Time // by deposit
}

// follow starts a follower for each partner, as soon as it has read its feed. Their first requests wait 1 to feedWait
// seconds, so that later ones do not end together. stop ends them.
func (w *workbench) follow(ctx context.Context, partners []testPartner) *waiters {
	l := &waiters{client: world.NewClient(callTimeout, len(partners)), base: w.http.Base, arrived: map[string]time.Time{}}
	ctx, l.cancel = context.WithCancel(ctx)
	for i := range partners {
		after := int64(-1)
		for next := int64(0); next != after; { // to the end of the feed
			after = next
			next = must(l.read(ctx, &partners[i], after, 0))
		}
		l.group.Go(func() (err error) {
			for wait := 1 + i%feedWait; err == nil && ctx.Err() == nil; wait = feedWait {
				after, err = l.read(ctx, &partners[i], after, wait)
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		})
	}
	return l
}

// stop ends the followers. The first of their errors ends the step.
func (l *waiters) stop() {
	l.cancel()
	check(l.group.Wait())
	l.client.CloseIdleConnections()
}

// read asks for the events after a number, and notes when they came.
func (l *waiters) read(ctx context.Context, t *testPartner, after int64, wait int) (next int64, err error) {
	path := "/events/feed?after=" + strconv.FormatInt(after, 10) + "&waitSeconds=" + strconv.Itoa(wait)
	answer := l.client.Do(ctx, world.Call{Base: l.base, APIKey: t.Key, Method: "GET", Path: path})
	if !answer.OK() {
		return after, errors.Join(answer.Err, fmt.Errorf("the feed answers %d %s", answer.Status, answer.Body))
	}
	at := time.Now()
	var page struct {
		Data      []struct{ Data struct{ ID string } }
		NextAfter int64
	}
	if err := json.Unmarshal(answer.Body, &page); err != nil {
		return after, err
	}
	if wait > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, e := range page.Data {
			l.arrived[e.Data.ID] = at
		}
	}
	return page.NextAfter, nil
}
