package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// follow starts a follower for each partner.
func (w *suite) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	w.unfollow = func() { cancel(); group.Wait() }
	for i, t := range w.partners {
		f := newFollower(t, w.load.bases, w.o.seed+uint64(i), w.receipts.violate) //nolint:gosec // counts from 0
		w.followers = append(w.followers, f)
		group.Go(func() { f.follow(ctx) })
	}
}

// fed counts the events that followers have processed.
func (w *suite) fed() (n int) {
	for _, f := range w.followers {
		n += len(f.now().events)
	}
	return n
}

// answered adds up the answers that followers got.
func (w *suite) answered() counts {
	sum := counts{}
	for _, f := range w.followers {
		for what, n := range f.now().counts {
			sum[what] += n
		}
	}
	return sum
}

// lastNumbers reads the last number of each partner's feed.
func (w *suite) lastNumbers(ctx context.Context) (map[id.ID]int64, error) {
	found, err := query(ctx, w, pgx.RowToStructByPos[struct {
		Partner id.ID
		Last    int64
	}], `SELECT partner_id, last_sequence FROM event_feeds`)
	last := make(map[id.ID]int64, len(found))
	for _, c := range found {
		last[c.Partner] = c.Last
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
	for _, f := range w.followers {
		read, err := poll(ctx, 50*ms, time.Until(end), func() (bool, error) {
			now := f.now()
			return now.held || now.kept.after >= last[f.owner.ID], nil
		})
		if err != nil {
			return err
		}
		if !read {
			w.receipts.violate("feed", "%s has followed up to %d of %d within %v", f.owner.Name, f.now().kept.after,
				last[f.owner.ID], w.o.deadline)
		}
	}
	sofar := map[*follower][]followed{} // the history may be ahead of it
	for _, f := range w.followers {
		sofar[f] = f.now().events
	}
	a := &audit{suite: w}
	if err := a.readFacts(ctx); err != nil {
		return err
	}
	for f, events := range sofar {
		a.feed(f.owner, events, map[key]id.ID{})
	}
	return nil
}

// feeds compares the events that followers have processed with the answers of the API and with the history of the
// deposits.
func (a *audit) feeds(ctx context.Context) {
	byDeposit := map[key]id.ID{} // the events that followers have, by deposit and status
	for _, f := range a.followers {
		events := f.now().events
		a.result.followed += len(events)
		a.feed(f.owner, events, byDeposit)
		a.reread(ctx, f, events)
	}
	for _, c := range a.load.made() {
		_, followed := byDeposit[key{deposit: c.deposit, status: c.want}]
		if !followed && !c.answered.IsZero() && !a.exempt.has(c.answered) {
			a.receipts.violate("feed", "%s %s was answered 200 and is in no feed", id.Deposit.Of(c.deposit), c.want)
		}
	}
	a.result.feed = a.answered()
}

// feed compares a partner's events with the history of its deposits: every change once, each deposit's in their order.
func (a *audit) feed(t *world.Partner, events []followed, byDeposit map[key]id.ID) {
	versions, has := map[id.ID]int{}, make(map[id.ID]bool, len(events))
	for _, e := range events {
		has[e.event] = true
		byDeposit[key{deposit: e.deposit, status: e.status}] = e.event
		f, known := a.facts[e.event]
		switch {
		case !known || f.Partner != t.ID || f.Deposit != e.deposit || string(f.name()) != e.name:
			a.receipts.violate("feed", "%s: %s %s of %s is no change of its deposits", t.Name, e.name,
				id.Event.Of(e.event), id.Deposit.Of(e.deposit))
		case f.Version <= versions[e.deposit]:
			a.receipts.violate("feed order", "%s: %s of %s, change %d, came after change %d", t.Name, e.name,
				id.Deposit.Of(e.deposit), f.Version, versions[e.deposit])
		}
		versions[e.deposit] = f.Version
	}
	for _, f := range a.facts {
		if f.Partner == t.ID && f.Committed.Before(a.cut) && !has[f.Event] {
			a.receipts.violate("feed", "%s: %v is missing in the feed", t.Name, f)
		}
	}
}

// reread reads the whole feed once more with a new follower, and compares its events with those that f has processed.
// Events behind the last that f has processed do not count: the feed grows meanwhile.
func (a *audit) reread(ctx context.Context, f *follower, events []followed) {
	again := newFollower(f.owner, f.bases, a.o.seed, f.violate)
	end := time.Now().Add(a.o.deadline)
	for n := 0; len(again.events) < len(events) && time.Now().Before(end) && ctx.Err() == nil; n++ {
		if rest := again.take(again.read(ctx, n, again.kept, 0), again.kept, false); rest > 0 {
			_ = pause(ctx, rest)
		}
	}
	if got := again.events; !slices.Equal(got[:min(len(got), len(events))], events) {
		a.receipts.violate("feed", "%s: %d events were followed, and others or fewer are read once more: %d", f.owner.Name,
			len(events), len(got))
	}
}
