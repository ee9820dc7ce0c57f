package middleware

import (
	"context"
	"sync"
	"time"

	"partnerdeposits/core/id"
)

// lately is how long an owner counts as one that held something lately, at least.
const lately = 5 * time.Minute

// Budget bounds what owners hold of a process at once: bytes that their callers have not taken yet, or places for work.
// Kept is left to owners that held nothing lately, so that a few cannot keep out all others.
type Budget struct {
	Most, Each, Kept int   // of the process, of an owner, and of Most for owners that held nothing lately
	Full, Enough     error // answer beyond Most, and beyond Each

	mu             sync.Mutex
	owners         map[id.ID]share
	total, holds   int
	recent, before map[id.ID]bool // owners that held something, by time
	turned         time.Time
	freed          chan struct{} // closed when a part is given back; nil unless somebody waits
}

// share is what an owner holds.
type share struct{ own, holds int }

// Hold is a part of a budget, until Give.
type Hold struct {
	budget   *Budget
	owner    id.ID
	own, all int
	fresh    bool // the owner held nothing lately
	given    bool
}

// Take holds a part: own counts against Each, and all against Most. Returns Enough or Full.
func (b *Budget) Take(owner id.ID, own, all int) (*Hold, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(owner, own, all)
}

func (b *Budget) take(owner id.ID, own, all int) (*Hold, error) {
	b.turn()
	has := b.owners[owner]
	h := &Hold{budget: b, owner: owner, own: own, fresh: has.holds == 0 && !b.recent[owner] && !b.before[owner]}
	if has.own+own > b.Each {
		return nil, b.Enough
	}
	if err := h.grow(all); err != nil {
		return nil, err
	}
	if b.owners == nil {
		b.owners = map[id.ID]share{}
	}
	b.owners[owner] = share{has.own + own, has.holds + 1}
	b.holds++
	b.recent[owner] = true
	return h, nil
}

// turn forgets the owners that held something long ago.
func (b *Budget) turn() {
	switch now := time.Now(); {
	case now.Sub(b.turned) > 2*lately:
		b.before, b.recent, b.turned = nil, map[id.ID]bool{}, now
	case now.Sub(b.turned) > lately:
		b.before, b.recent, b.turned = b.recent, map[id.ID]bool{}, now
	}
}

// Wait is Take, which waits until others give back what is missing. Returns Enough or Full when ctx ends.
func (b *Budget) Wait(ctx context.Context, owner id.ID, own, all int) (*Hold, error) {
	for {
		b.mu.Lock()
		h, err := b.take(owner, own, all)
		if err == nil {
			b.mu.Unlock()
			return h, nil
		}
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Spent reports whether n more would be beyond what an owner may hold.
func (b *Budget) Spent(owner id.ID, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[owner].own+n > b.Each
}

// Holds is the number of parts that are held.
func (b *Budget) Holds() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holds
}

// Grow holds n more of the process. Returns Full.
func (h *Hold) Grow(n int) error {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	return h.grow(n)
}

func (h *Hold) grow(n int) error {
	most := h.budget.Most
	if !h.fresh {
		most -= h.budget.Kept
	}
	if h.budget.total+n > most {
		return h.budget.Full
	}
	h.budget.total += n
	h.all += n
	return nil
}

// Give gives the part back, and may be called again, also for no part.
func (h *Hold) Give() {
	if h == nil {
		return
	}
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.given {
		return
	}
	h.given = true
	b.total -= h.all
	b.holds--
	if has := b.owners[h.owner]; has.holds > 1 {
		b.owners[h.owner] = share{has.own - h.own, has.holds - 1}
	} else {
		delete(b.owners, h.owner)
	}
	b.turn()
	b.recent[h.owner] = true
	b.wake()
}

// GiveAfter gives the part back to the process now, and to its owner after the time.
func (h *Hold) GiveAfter(rest time.Duration) {
	b := h.budget
	b.mu.Lock()
	b.total -= h.all
	h.all = 0
	b.wake()
	b.mu.Unlock()
	time.AfterFunc(rest, h.Give)
}

// wake has all callers of Wait look again.
func (b *Budget) wake() {
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}
