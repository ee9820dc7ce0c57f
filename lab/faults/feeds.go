package main

import (
	"context"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/world"
)

// follow starts a simulated reader of each partner's event feed.
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

// awaitFed waits until every simulated reader of a feed has all numbered events, and compares them with the
// deposits' history. A passed deadline is a violation.
func (w *suite) awaitFed(ctx context.Context) error {
	end := time.Now().Add(w.o.deadline)
	sofar := map[*follower][]followed{}
	for _, f := range w.followers {
		last, err := value[int64](ctx, w, `SELECT coalesce(max(last_sequence), 0) FROM event_feeds WHERE partner_id = $1`,
			f.owner.ID)
		if err != nil {
			return err
		}
		var after int64
		read, err := poll(ctx, 50*ms, time.Until(end), func() (bool, error) {
			sofar[f], after = f.now()
			return after >= last, nil
		})
		if err != nil {
			return err
		}
		if !read {
			w.receipts.violate("feed", "%s has followed up to %d of %d within %v", f.owner.Name, after, last, w.o.deadline)
		}
	}
	a := &audit{suite: w}
	// The deposits' history is read after the feeds, so that it is never behind them.
	err := a.readFacts(ctx)
	for f, events := range sofar {
		a.feed(f.owner, events)
	}
	return err
}

// feeds compares the events that the simulated readers have stored with the API's answers and the deposits'
// history.
func (a *audit) feeds() {
	shown := map[deliveryKey]bool{}
	for _, f := range a.followers {
		events, _ := f.now()
		a.result.followed += len(events)
		a.feed(f.owner, events)
		for _, e := range events {
			shown[deliveryKey{deposit: e.deposit, status: e.status}] = true
		}
	}
	for _, c := range a.load.changes {
		if !c.answered.IsZero() && !shown[deliveryKey{deposit: c.deposit, status: c.want}] {
			a.receipts.violate("feed", "%s %s was answered 200 and is in no feed", id.Deposit.Of(c.deposit), c.want)
		}
	}
}

// feed checks that a partner's feed has every change once, and the changes of a deposit in order.
func (a *audit) feed(t *world.Partner, events []followed) {
	versions, has := map[id.ID]int{}, make(map[id.ID]bool, len(events))
	for _, e := range events {
		has[e.event] = true
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
