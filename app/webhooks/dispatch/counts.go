package dispatch

import (
	"context"
	"maps"
	"time"

	"partnerdeposits/core/id"
)

func (r *registry) used() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries) > 0
}

// mark returns the number of times that the registry has counted the start or the end of a claim of a delivery.
func (r *registry) mark() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moves
}

// forgetAfter is how long an entry of a subscription is kept without claims: longer than a claim takes to its
// commit and to its worker, so that the endpoint's health is not lost.
const forgetAfter = 10 * time.Second

// correct replaces the registry's counts of claims of deliveries by the counts that the database made after mark.
// Subscriptions whose counts changed since then keep them until the next correction.
func (r *registry) correct(counts map[id.ID]int, mark uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sub, n := range counts {
		if e := r.entry(sub); e.moved <= mark || n < e.claimed/2 {
			r.count(e, n-e.claimed)
		}
	}
	now := r.now()
	for sub, e := range r.entries {
		if counts[sub] > 0 || e.moved > mark {
			continue
		}
		r.count(e, -e.claimed)
		if len(e.inFlight) == 0 && e.posting == 0 && now.Sub(e.touched) >= forgetAfter {
			delete(r.entries, sub)
		}
	}
	maps.DeleteFunc(r.held, func(_ id.ID, h *holding) bool { return *h == holding{} })
}

const (
	// countEvery is the time between two counts of the claims in the database while windows fill. At other times
	// calmPoll is. Until a count this process does not know which claims other dispatchers have made or finished.
	countEvery = 100 * time.Millisecond
	// fillingShare is the divisor of a limit of claims: from a quarter of the limit on, a window fills.
	fillingShare = 4
)

// fills reports whether the claims of a subscription, or of the whole dispatcher, approach their limit.
func (r *registry) fills() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.claimed > 0 && (fillingShare*e.claimed >= r.window() || !e.health.Flawless()) {
			return true
		}
	}
	return fillingShare*r.claimed >= r.config.Window
}

// countLoop corrects the counts of claims of deliveries by the database's counts, because other dispatchers claim
// deliveries too.
func (d *Dispatcher) countLoop(ctx context.Context) {
	var last time.Time
	for pause(ctx, countEvery) {
		now := d.Clock.Now()
		if now.Sub(last) < calmPoll && !now.Before(last) && !d.registry.fills() {
			continue
		}
		last = now
		d.watchOutbound(ctx)
		if !d.registry.used() {
			continue
		}
		mark := d.registry.mark()
		counts, err := d.Claims.CountClaimed(ctx)
		if err != nil {
			d.complain(ctx, "count deliveries in flight", err)
			continue
		}
		d.database.RecordSuccess(ctx)
		d.registry.correct(counts, mark)
	}
}
