package dispatch

import (
	"time"

	webhookports "partnerdeposits/ports/webhooks"
)

// held is the last time in which an endpoint held its own deliveries back: its health was not clean, or all of its
// slots were in use. That time is no delay of the service.
type held struct {
	now        bool
	from, till time.Time // till is set when the time is over
}

// heldGap is the longest pause within a time: between two claims of a backlog, slots are free for a moment.
const heldGap = 5 * time.Second

// note takes the present state.
func (h *held) note(holds bool, clock func() time.Time) {
	if holds == h.now {
		return
	}
	h.now = holds
	now := clock()
	switch {
	case !holds:
		h.till = now
	case now.Sub(h.till) > heldGap:
		h.from = now
	}
}

// within is how much of the time between two instants the endpoint held its deliveries back.
func (h *held) within(from, to time.Time) time.Duration {
	till := h.till
	if h.now || till.After(to) {
		till = to
	}
	if h.from.After(from) {
		from = h.from
	}
	return max(till.Sub(from), 0)
}

// hold notes whether an endpoint holds its deliveries back. An endpoint that the registry first meets in bad health may
// have done so for any time.
func (r *registry) hold(e *entry) {
	clean := e.health.Clean()
	if !e.known && !clean {
		e.held = held{now: true}
	}
	e.known = true
	e.held.note(!clean || e.posting >= e.health.Slots(r.config.EndpointConcurrency), r.now)
}

// startDelay is the time since a delivery was due, without the time in which its endpoint held it back. Negative: the
// circuit held the delivery back, so its start tells nothing. The row of the subscription knows of that time, whichever
// dispatcher saw it. Until such deliveries have left, the later ones wait behind them.
func (r *registry) startDelay(d *webhookports.Delivery, due, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, delay := r.entries[d.SubscriptionID], now.Sub(due)
	if d.Held.Includes(due) {
		if e != nil {
			e.drained = now
		}
		return -1
	}
	own := time.Duration(0)
	if d.Held.Over() && due.Before(d.Held.From) {
		own = d.Held.Till.Sub(d.Held.From)
	}
	if e != nil {
		own = max(own, e.held.within(due, now))
		if e.drained.After(due) {
			own = max(own, e.drained.Sub(due))
		}
	}
	return max(delay-own, 0)
}
