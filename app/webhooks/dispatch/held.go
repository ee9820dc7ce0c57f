package dispatch

import (
	"time"
)

// held is the last time in which an endpoint held its own deliveries back: its health was not clean, or all of
// its slots were in use. That time is not a delay of the service.
type held struct {
	now bool
	// The beginning and the end of the last time in which the endpoint held deliveries back; the end is set when it
	// is over.
	from, till time.Time
}

// heldGap is the longest pause within a span of time in which an endpoint holds deliveries back: between two
// claims of a backlog, slots are free for a moment.
const heldGap = 5 * time.Second

// note records whether the endpoint holds its deliveries back now.
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

// within returns how long the endpoint held its deliveries back between two instants.
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
