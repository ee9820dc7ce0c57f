package dispatch

import (
	"time"

	"partnerdeposits/core/id"
)

func (r *registry) move(e *entry, n int) {
	e.claimed += n
	r.claimed += n
	r.moves++
	e.moved = r.moves
	if n > 0 && r.fills(e) {
		signal(r.crowding)
	}
}

// fillingShare: from a quarter of a limit on, the claims are counted in the database more often.
const fillingShare = 4

// fills reports whether the claims of a subscription, or of the whole dispatcher, approach their limit. The limit of a
// subscription in bad health is so low that a single claim approaches it.
func (r *registry) fills(e *entry) bool {
	return fillingShare*e.claimed >= r.window() || fillingShare*r.claimed >= r.config.Window || !e.health.Clean()
}

// crowded reports whether the claims of the dispatcher, or of any subscription, approach their limit.
func (r *registry) crowded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.claimed > 0 && r.fills(e) {
			return true
		}
	}
	return false
}

// used reports whether any subscription is known.
func (r *registry) used() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries) > 0
}

// mark returns the present position in the order of moves, for correct.
func (r *registry) mark() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moves
}

// forgetAfter is longer than a claim takes to its commit (a statement ends after 8 s) and to its worker. An entry that
// is forgotten meanwhile would take its health along, and an endpoint that hangs would be in the fast lane.
const forgetAfter = 10 * time.Second

// correct replaces the claims that are known by the counts that the database made after mark. Subscriptions that moved
// since then keep their counts until the next correction. Subscriptions without claims are forgotten after forgetAfter.
func (r *registry) correct(counts map[id.ID]int, mark uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sub, n := range counts {
		if e := r.entry(sub); e.moved <= mark || n < e.claimed/2 {
			r.claimed += n - e.claimed
			e.claimed = n
		}
	}
	now := r.now()
	for sub, e := range r.entries {
		if counts[sub] > 0 || e.moved > mark {
			continue
		}
		r.claimed -= e.claimed
		e.claimed = 0
		if len(e.inFlight) == 0 && e.posting == 0 && now.Sub(e.touched) >= forgetAfter {
			delete(r.entries, sub)
		}
	}
}
