package middleware

import (
	"context"
	"sync"
	"time"

	"partnerdeposits/core/id"
)

// lately is the least time for which an owner that held part of a budget counts as a recent holder.
const lately = 5 * time.Minute

// ResourceBudget limits how much of a resource (bytes of unreceived responses, or permissions to work) the process
// hands out, in all and per owner (a partner or an account). Kept is reserved for owners that held nothing
// recently.
type ResourceBudget struct {
	// Limits of the budget: Most for the process, Each for one owner; Kept is reserved for owners that held nothing
	// recently.
	Most, Each, Kept int
	// Errors of TryAcquire: Full at the process's limit, Enough at the owner's.
	Full, Enough error

	mu           sync.Mutex
	owners       map[id.ID]share
	total, holds int
	// Owners (partners or accounts) that held a part of the budget in the current and in the previous period.
	recent, before map[id.ID]bool
	turned         time.Time
	// Channel closed when a part of the budget is given back, to wake waiting callers; nil unless somebody waits.
	freed chan struct{}
}

// share is how much of the budget an owner holds, and in how many parts.
type share struct{ own, holds int }

// BudgetPart is a part of a budget that an owner (a partner or an account) holds until Release is called.
type BudgetPart struct {
	budget   *ResourceBudget
	owner    id.ID
	own, all int
	// Whether the owner held nothing recently, so that the budget's reserved part is open to it.
	fresh bool
	given bool
}

// TryAcquire takes a part of the budget: own counts against the owner's limit, all against the process's. Returns
// Enough or Full.
func (b *ResourceBudget) TryAcquire(owner id.ID, own, all int) (*BudgetPart, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(owner, own, all)
}

func (b *ResourceBudget) take(owner id.ID, own, all int) (*BudgetPart, error) {
	b.turn()
	has := b.owners[owner]
	h := &BudgetPart{budget: b, owner: owner, own: own, fresh: has.holds == 0 && !b.recent[owner] && !b.before[owner]}
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

// turn forgets recent holders of the budget that have held nothing for a while.
func (b *ResourceBudget) turn() {
	switch now := time.Now(); {
	case now.Sub(b.turned) > 2*lately:
		b.before, b.recent, b.turned = nil, map[id.ID]bool{}, now
	case now.Sub(b.turned) > lately:
		b.before, b.recent, b.turned = b.recent, map[id.ID]bool{}, now
	}
}

// Acquire takes a part of the budget like TryAcquire, but waits until enough is given back. Returns Enough or Full
// when ctx ends.
func (b *ResourceBudget) Acquire(ctx context.Context, owner id.ID, own, all int) (*BudgetPart, error) {
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

// ExceedsOwnerLimit reports whether n more would exceed an owner's own limit of the budget.
func (b *ResourceBudget) ExceedsOwnerLimit(owner id.ID, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[owner].own+n > b.Each
}

// PartsHeld returns how many parts of the budget are held at present.
func (b *ResourceBudget) PartsHeld() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holds
}

// Grow adds n to a held part in the process's budget, but not in its owner's. Returns Full.
func (h *BudgetPart) Grow(n int) error {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	return h.grow(n)
}

func (h *BudgetPart) grow(n int) error {
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

// Release gives a held part back to the budget. A second call, or a call on nil, does nothing.
func (h *BudgetPart) Release() {
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

// ReleaseWithOwnerCooldown gives a part of the process's budget back at once, but counts it against the owner's
// limit for the time rest longer.
func (h *BudgetPart) ReleaseWithOwnerCooldown(rest time.Duration) {
	b := h.budget
	b.mu.Lock()
	b.total -= h.all
	h.all = 0
	b.wake()
	b.mu.Unlock()
	time.AfterFunc(rest, h.Release)
}

// wake wakes all callers that wait for a part of the budget.
func (b *ResourceBudget) wake() {
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}
