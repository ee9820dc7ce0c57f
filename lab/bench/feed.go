package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
)

// feedRate is the number of events a second, of all partners together, at which the feed has a target.
const feedRate = 500

// feedTimes are the times from the commit of a change to the follower that waits for it, in ms, by round.
type feedTimes struct {
	p50, p99 sample
	cpu      ratio // with followers to without
}

// measureFeed cancels deposits at a steady rate while a follower of each partner's feed waits, and while none does.
func measureFeed(ctx context.Context, w *world, o options, r *results) error {
	b := newBoard(fmt.Sprintf("feed at %d events/s", feedRate))
	plain := variant{site: w.sites[len(w.sites)-1], keyed: true, partners: addresses, subscriptions: 1, conns: o.conns[0]}
	followed := plain
	followed.followed = true
	err := rotate(ctx, o.rounds, w.turns([]variant{plain, followed}, func(ctx context.Context, v variant, partners []testPartner) error {
		defer r.peak(w)
		return w.feedRound(ctx, v, partners, o, b)
	}))
	name := followed.String()
	r.feed = &feedTimes{b.sample(name, "p50 ms"), b.sample(name, "p99 ms"), b.ratio(name, plain.String(), "CPU")}
	fmt.Printf("feed: with followers ÷ without, CPU %v\n", r.feed.cpu)
	return errors.Join(err, b.print(os.Stdout))
}

func (w *world) feedRound(ctx context.Context, v variant, partners []testPartner, o options, b *board) error {
	if err := w.warmUp(ctx, v, partners, o); err != nil {
		return err
	}
	ids, err := w.deposits(ctx, calls(int(o.feed.Seconds()*feedRate)), v.conns, v.keyed, inTurn(partners))
	if err != nil {
		return err
	}
	waiting := &waiters{arrived: map[string]time.Time{}}
	if v.followed {
		if err := waiting.follow(ctx, w.api, partners, feedWait); err != nil {
			return err
		}
		defer waiting.stop()
	}
	since, took := system.Clock{}.Now(), w.taken()
	from, err := w.read(ctx)
	if err != nil {
		return err
	}
	_, late, err := w.cancelPaced(ctx, ids, feedRate, v.keyed)
	if err != nil {
		return err
	}
	if err := w.awaitTaken(ctx, took, len(ids), 2*time.Minute); err != nil {
		return err
	}
	spent, err := w.since(ctx, from, len(ids))
	if err != nil {
		return err
	}
	f := w.withMemory(spent.figures())
	f["late ms"] = late.percentile(100)
	if v.followed {
		ms, err := w.followed(ctx, waiting, since, ids, partners)
		if err != nil {
			return err
		}
		f = f.withLatency(ms, late)
		fmt.Printf("%v at %d events/s: commit → waiting follower p50 %.1f ms, p99 %.1f ms, max %.1f ms (%d)\n", v, feedRate, f["p50 ms"], f["p99 ms"], f["max ms"], len(ms))
	}
	b.add(v.String(), f)
	return nil
}

// followed gives the time of each deposit's event from its commit to its follower, in ms. Both clocks are this machine's.
func (w *world) followed(ctx context.Context, waiting *waiters, since time.Time, ids []made, partners []testPartner) (ms sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for waiting.count() < len(ids) {
		if err := errors.Join(waiting.failed(), pause(ctx, 20*time.Millisecond)); err != nil {
			return nil, fmt.Errorf("%d of %d events were followed: %w", waiting.count(), len(ids), err)
		}
	}
	var subscriptions []id.ID
	for _, t := range partners {
		subscriptions = append(subscriptions, t.subscriptions...)
	}
	rows, err := w.pool.Query(ctx, `SELECT deposit_id, event_at FROM deliveries WHERE subscription_id = ANY ($1) AND event_at >= $2`, subscriptions, since)
	if err != nil {
		return nil, err
	}
	var deposit id.ID
	var committed time.Time
	_, err = pgx.ForEachRow(rows, []any{&deposit, &committed}, func() error {
		at, found := waiting.arrived[id.Deposit.Of(deposit)]
		if !found {
			return fmt.Errorf("%s was delivered and not followed", id.Deposit.Of(deposit))
		}
		ms = append(ms, at.Sub(committed).Seconds()*1000)
		return nil
	})
	if err == nil && len(ms) < len(ids) {
		err = fmt.Errorf("%d of %d deliveries are in the log", len(ms), len(ids))
	}
	return ms, err
}

// feedWait is the waitSeconds of each request for the feed: the maximum of the API.
const feedWait = 25

// waiters are followers of feeds, each with a request that waits.
type waiters struct {
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu      sync.Mutex
	arrived map[string]time.Time // by deposit
	err     error                // the first
}

// follow starts a follower for each partner, as soon as it has read its feed. Their first requests wait 1 to first seconds, so that
// later ones do not end together.
func (l *waiters) follow(ctx context.Context, api string, partners []testPartner, first int) error {
	ctx, l.cancel = context.WithCancel(ctx)
	for i := range partners {
		c := newCaller(api)
		after, err := l.catchUp(c, &partners[i])
		if err != nil {
			return err
		}
		l.group.Go(func() {
			defer c.close()
			for wait := 1 + i%first; ctx.Err() == nil; wait = feedWait {
				if after, err = l.read(c, &partners[i], after, wait); err != nil {
					l.fail(ctx, err)
					return
				}
			}
		})
		l.group.Go(func() {
			<-ctx.Done()
			c.interrupt()
		})
	}
	return nil
}

// catchUp reads a feed to its end.
func (l *waiters) catchUp(c *caller, t *testPartner) (after int64, err error) {
	for {
		next, err := l.read(c, t, after, 0)
		if err != nil || next == after {
			return next, err
		}
		after = next
	}
}

// read asks for the events after a number, and notes when they came.
func (l *waiters) read(c *caller, t *testPartner, after int64, wait int) (next int64, err error) {
	answer, err := c.do(request{method: "GET", apiKey: t.key, path: "/events/feed?after=" + strconv.FormatInt(after, 10) + "&waitSeconds=" + strconv.Itoa(wait)})
	if err != nil {
		return after, err
	}
	at := time.Now()
	var page struct {
		Data      []struct{ Data struct{ ID string } }
		NextAfter int64
	}
	if err := json.Unmarshal(answer, &page); err != nil {
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

func (l *waiters) fail(ctx context.Context, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx.Err() == nil && l.err == nil {
		l.err = err
	}
}

func (l *waiters) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *waiters) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.arrived)
}

func (l *waiters) stop() {
	l.cancel()
	l.group.Wait()
}
