package dispatch

import (
	"time"
)

// held is the last period in which an endpoint held its own deliveries back: it was failing, or had as many
// POSTs in flight as it may have. That period is not a delay of the service.
type held struct {
	now        bool
	from, till time.Time
}

// heldGap is the longest pause within a period in which an endpoint holds deliveries back: while a backlog is
// sent, it may accept more for a moment.
const heldGap = 5 * time.Second

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
