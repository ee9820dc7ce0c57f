package dispatch

import (
	"slices"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// adjust stores endpoint health that was just recorded, and lets waiting POSTs begin where it allows more. The
// result is the deliveries that wait for an endpoint whose circuit opened.
func (r *registry) adjust(health map[id.ID]webhook.Health) (surplus []*waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sub, h := range health {
		e := r.entry(sub)
		r.setHealth(e, h)
		if h.CircuitOpen() {
			surplus = append(surplus, e.waiting...)
			e.waiting = nil
		}
		r.grant(e)
	}
	r.grantBlocked()
	return surplus
}

// close removes and returns all deliveries that wait for their POST. From then on, no delivery waits.
func (r *registry) close() (waiters []*waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, e := range r.entries {
		waiters = append(waiters, e.waiting...)
		e.waiting = nil
	}
	return waiters
}

// slot lets the POST of a claimed delivery begin if one more may be in flight, and then returns nil. Otherwise it
// returns a waiter.
func (r *registry) slot(c webhookports.Claim, urgent bool) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(c.SubscriptionID)
	if r.closed || r.mayPost(e, c.Requested) {
		r.post(e, 1)
		return nil
	}
	w := &waiter{claim: c, ownFull: !r.ownSlot(e), granted: make(chan bool, 1)}
	if urgent {
		e.waiting = slices.Insert(e.waiting, 0, w)
	} else {
		e.waiting = append(e.waiting, w)
	}
	r.block(e)
	return w
}

func (r *registry) free(sub id.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(sub)
	r.post(e, -1)
	// Subscriptions that waited before have precedence over further deliveries of this one.
	r.grantBlocked()
	r.grant(e)
}

// saturated reports whether no further POST may begin in this process.
func (r *registry) saturated() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.posting >= r.config.Concurrency
}

// Divisors: a process keeps further deliveries for its own workers while it has less than an eighth of its POSTs
// in flight, and less than half of those to the same endpoint.
const keepingShare, keepingEndpointShare = 8, 2

// keeps reports whether this process has workers free for the claimed deliveries, so that other dispatchers are
// not woken (docs/decisions/0004-path-of-an-event.md).
func (r *registry) keeps(claims []webhookports.Claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if keepingShare*r.posting >= r.config.Concurrency {
		return false
	}
	for _, c := range claims {
		e := r.entries[c.SubscriptionID]
		if e != nil && (e.slow || keepingEndpointShare*e.claimed > r.config.EndpointConcurrency) {
			return false
		}
	}
	return true
}

func (r *registry) post(e *entry, n int) {
	e.posting += n
	r.of(e).posting += n
	r.posting += n
	if e.slow {
		r.slow += n
	}
}

func (r *registry) ownSlot(e *entry) bool {
	return e.posting < e.health.MaxPostsInFlight(r.config.EndpointConcurrency)
}

// mayPost reports whether a POST to a subscription may begin; requested: a partner requested the delivery.
func (r *registry) mayPost(e *entry, requested bool) bool {
	if !r.ownSlot(e) {
		return false
	}
	left, held := r.config.Concurrency-r.posting, r.of(e).posting
	if e.slow || requested {
		// Count as if the partner had all POSTs in flight, so that the delivery gets none of the last quarter, which
		// is for events.
		held = r.config.Concurrency
	}
	return more(r.config.Concurrency, left, held) > 0 && (!e.slow || r.slow < r.config.slowSlots())
}

// next returns the index of the first waiting delivery of a subscription whose POST may begin; below 0: none may.
func (r *registry) next(e *entry) int {
	if r.mayPost(e, true) {
		return min(len(e.waiting), 1) - 1
	}
	if !r.mayPost(e, false) {
		return -1
	}
	return slices.IndexFunc(e.waiting, func(w *waiter) bool { return !w.claim.Requested })
}

func (r *registry) grant(e *entry) {
	for r.grantNext(e) {
	}
	r.block(e)
}

func (r *registry) grantNext(e *entry) bool {
	at := r.next(e)
	if at < 0 {
		return false
	}
	w := e.waiting[at]
	e.waiting = slices.Delete(e.waiting, at, at+1)
	r.post(e, 1)
	w.granted <- true
	return true
}

// block adds a subscription to those that wait until this process may have another POST in flight, if its
// first delivery waits for nothing else.
func (r *registry) block(e *entry) {
	if !e.blocked && len(e.waiting) > 0 && r.ownSlot(e) {
		e.blocked = true
		r.blocked = append(r.blocked, e)
	}
}

// grantBlocked lets POSTs begin of subscriptions that wait because this process had too many in flight, in turn.
func (r *registry) grantBlocked() {
	r.grantTo(func(e *entry) bool { return r.of(e).posting < r.config.partnerSlots() })
	r.grantTo(func(*entry) bool { return true })
}

func (r *registry) grantTo(entitled func(*entry) bool) {
	for i := 0; i < len(r.blocked); {
		e := r.blocked[i]
		if len(e.waiting) > 0 && r.ownSlot(e) && (!entitled(e) || r.next(e) < 0) {
			i++
			continue
		}
		r.blocked = slices.Delete(r.blocked, i, i+1)
		e.blocked = false
		r.grantNext(e)
		r.block(e)
	}
}
