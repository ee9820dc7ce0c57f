package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
)

// followers follow the feeds of all partners.
type followers struct {
	all    []*follower
	cancel context.CancelFunc
	group  sync.WaitGroup
}

// follow starts a follower for each partner.
func (w *suite) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	w.followers = &followers{cancel: cancel}
	for i, t := range w.partners {
		f := newFollower(t, w.load.bases, w.o.seed+uint64(i), w.receipts.violate) //nolint:gosec // counts from 0
		w.followers.all = append(w.followers.all, f)
		w.followers.group.Go(func() { f.follow(ctx) })
	}
}

// stop ends the followers.
func (f *followers) stop() {
	f.cancel()
	f.group.Wait()
}

// fed counts the events that were processed.
func (f *followers) fed() (n int) {
	for _, one := range f.all {
		one.change(func() { n += len(one.events) })
	}
	return n
}

func (f *followers) counts() (sum feedCounts) {
	for _, one := range f.all {
		sum.add(one.counted())
	}
	return sum
}

// lastNumbers reads the last number of each partner's feed.
func (w *suite) lastNumbers(ctx context.Context) (map[id.ID]int64, error) {
	type counter struct {
		partner id.ID
		last    int64
	}
	found, err := query(ctx, w, func(row pgx.CollectableRow) (c counter, err error) {
		err = row.Scan(&c.partner, &c.last)
		return c, err
	}, `SELECT partner_id, last_sequence FROM event_feeds`)
	last := make(map[id.ID]int64, len(found))
	for _, c := range found {
		last[c.partner] = c.last
	}
	return last, err
}

// awaitFed waits until every follower that is not held has the events that have a number now, and compares the feeds so
// far with the history of the deposits. Exceeding the deadline is a violation.
func (w *suite) awaitFed(ctx context.Context) error {
	last, err := w.lastNumbers(ctx)
	if err != nil {
		return err
	}
	end := time.Now().Add(w.o.deadline)
	for _, f := range w.followers.all {
		read, err := poll(ctx, 50*ms, time.Until(end), func() (bool, error) { return !f.behind(last[f.owner.ID]), nil })
		if err != nil {
			return err
		}
		if !read {
			w.receipts.violate("feed", "%s has followed up to %d of %d within %v", f.owner.Name, f.at().after,
				last[f.owner.ID], w.o.deadline)
		}
	}
	return w.judgeFeeds(ctx)
}

// judgeFeeds compares the feeds so far with the history of the deposits, which may be ahead.
func (w *suite) judgeFeeds(ctx context.Context) error {
	sofar := map[*follower][]followed{}
	for _, f := range w.followers.all {
		sofar[f] = f.processed()
	}
	a := &audit{w: w}
	if err := a.readFacts(ctx); err != nil {
		return err
	}
	for f, events := range sofar {
		a.feed(f.owner, events, map[key]id.ID{})
	}
	return nil
}

// processed gives the events that the follower has processed.
func (f *follower) processed() []followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// behind tells whether the follower still has to read up to a number.
func (f *follower) behind(last int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.held && f.kept.after < last
}

// feeds compares the events that followers have processed with the answers of the API and with the history of the
// deposits.
func (a *audit) feeds(ctx context.Context) error {
	byDeposit := map[key]id.ID{} // the events that followers have, by deposit and status
	for _, f := range a.w.followers.all {
		events := f.processed()
		a.result.followed += len(events)
		a.feed(f.owner, events, byDeposit)
		if err := a.reread(ctx, f, events); err != nil {
			return err
		}
	}
	for _, c := range a.w.load.made() {
		if _, followed := byDeposit[key{deposit: c.deposit,
			status: c.want}]; !followed && !c.answered.IsZero() && !a.exempt.has(c.answered) {
			a.w.receipts.violate("feed", "%s %s was answered 200 and is in no feed", id.Deposit.Of(c.deposit), c.want)
		}
	}
	a.result.feed = a.w.followers.counts()
	return nil
}

// feed compares a partner's events with the history of its deposits: every change once, each deposit's in their order.
func (a *audit) feed(t *testPartner, events []followed, byDeposit map[key]id.ID) {
	versions, has := map[id.ID]int{}, make(map[id.ID]bool, len(events))
	for _, e := range events {
		has[e.event] = true
		byDeposit[key{deposit: e.deposit, status: e.status}] = e.event
		f, known := a.facts[e.event]
		switch {
		case !known || f.partner != t.ID || f.deposit != e.deposit || string(f.name) != e.name:
			a.w.receipts.violate("feed", "%s: %s %s of %s is no change of its deposits", t.Name, e.name,
				id.Event.Of(e.event), id.Deposit.Of(e.deposit))
		case f.version <= versions[e.deposit]:
			a.w.receipts.violate("feed order", "%s: %s of %s, change %d, came after change %d", t.Name, e.name,
				id.Deposit.Of(e.deposit), f.version, versions[e.deposit])
		}
		versions[e.deposit] = f.version
	}
	for _, f := range a.facts {
		if f.partner == t.ID && f.committed.Before(a.cut) && !has[f.event] {
			a.w.receipts.violate("feed", "%s: %s of %s is missing in the feed", t.Name, f.name,
				id.Deposit.Of(f.deposit))
		}
	}
}

// reread reads the whole feed once more, in parts of another size, and compares it with the events that were processed.
func (a *audit) reread(ctx context.Context, f *follower, events []followed) error {
	var after int64
	for path := "/events/feed?limit=100"; ; path = fmt.Sprintf("/events/feed?limit=100&after=%d", after) {
		got, err := a.w.call(ctx, f.owner, http.MethodGet, path, "")
		if err != nil {
			a.w.receipts.violate("feed", "%s: %v", f.owner.Name, err)
			return ctx.Err()
		}
		var page feedAnswer
		if err := json.Unmarshal(got.Body, &page); err != nil {
			return err
		}
		for _, e := range page.Data {
			event, _ := id.Event.Parse(e.ID)
			if after++; e.Sequence != after || after <= int64(len(events)) && events[after-1].event != event {
				a.w.receipts.violate("feed", "%s: the number %d is %s, read once more at place %d", f.owner.Name,
					e.Sequence, e.ID, after)
			}
		}
		if len(page.Data) == 0 {
			break
		}
	}
	if after < int64(len(events)) {
		a.w.receipts.violate("feed", "%s: %d events were followed, and %d are read once more", f.owner.Name,
			len(events), after)
	}
	return nil
}
