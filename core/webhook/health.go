package webhook

import "time"

// Health is what is known of an endpoint from its attempts. It decides the lane, and how many deliveries may be under
// way at once, so that one partner's dead receiver moves no one else's latency (delivery.md, point 9).
//
//	          slow or failed            keeps failing                 probe succeeds
//	fast lane ──────────────▶ slow lane ─────────────▶ held: one probe ─────────────▶ ramp 1, 2, 4, …
//	    ▲                         │                     ▲     │ fails: twice the wait      │ fails: half
//	    └── quick successes ──────┘                     └─────┴────── keeps failing ───────┤
//	    ▲                                                                                  │
//	    └───────────────────────────────── at the cap ─────────────────────────────────────┘
type Health struct {
	Failures     int       // in a row
	FailingSince time.Time // first of them; zero: the last attempt succeeded
	Slow         bool      // takes the slow lane
	Quick        int       // quick successes in a row, while Slow
	Holds        int       // probes that failed in a row
	HeldUntil    time.Time // when the next probe may go; zero: not held
	Ramp         int       // how many may be under way while coming back; 0: no bound of this kind
}

// Bounds of the health rules.
const (
	slowAttempt  = 2 * time.Second // an attempt of that length costs a lane's slot too dearly
	quickEnough  = 5               // quick successes that lead back to the fast lane, and failures that lead out of it
	fewOf        = 8               // the part of its slots that an endpoint has which only fails
	holdFailures = 20              // failures in a row, and …
	holdAge      = 5 * time.Second // … their age, from which an endpoint "keeps failing": as long as a first retry waits
	firstHold    = time.Second     // doubled by each probe that fails, so nobody waits longer than the endpoint was away
	longestHold  = 5 * time.Minute
	// DisableAfter is how long nothing but failures disables a subscription (api.md §5).
	DisableAfter = 5 * 24 * time.Hour
)

// Clean reports whether nothing is known against the endpoint: a success changes nothing then.
func (h Health) Clean() bool { return h == Health{} }

// Held reports whether the endpoint is only probed.
func (h Health) Held() bool { return !h.HeldUntil.IsZero() }

// Disable reports whether the endpoint has done nothing but fail for DisableAfter.
func (h Health) Disable(now time.Time) bool {
	return !h.FailingSince.IsZero() && now.Sub(h.FailingSince) >= DisableAfter
}

// After gives the health after one attempt that began with limit slots for the endpoint.
func (h Health) After(a Attempt, limit int, now time.Time) Health {
	quick := a.Duration < slowAttempt
	if a.OK() {
		return h.afterSuccess(quick, limit)
	}
	h.Failures++
	h.Quick = 0
	if h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	h.Slow = h.Slow || !quick || h.Failures >= quickEnough
	keepsFailing := h.Failures >= holdFailures && now.Sub(h.FailingSince) >= holdAge
	if h.Ramp > 0 && h.Failures < quickEnough { // one that fails now and then comes back all the same
		h.Ramp = max(h.Ramp/2, 1)
		return h
	}
	if h.Held() || h.Ramp > 0 || keepsFailing {
		if now.Before(h.HeldUntil) { // a straggler from before the hold tells nothing new
			return h
		}
		h.HeldUntil = now.Add(min(firstHold<<min(h.Holds, 10), longestHold))
		h.Holds++
		h.Ramp = 0
	}
	return h
}

func (h Health) afterSuccess(quick bool, limit int) Health {
	h.Failures, h.FailingSince, h.Holds = 0, time.Time{}, 0
	switch {
	case h.Held():
		h.HeldUntil, h.Ramp = time.Time{}, 1
	case h.Ramp > 0:
		h.Ramp *= 2
	}
	if h.Ramp >= limit {
		h.Ramp = 0
	}
	if !quick {
		h.Slow, h.Quick = true, 0
		return h
	}
	if h.Slow {
		h.Quick++
	}
	if h.Quick >= quickEnough {
		h.Slow, h.Quick = false, 0
	}
	return h
}

// Slots tells how many POSTs may be under way at once: limit, few while the last answers were failures, the ramp on the
// way back, and one while held.
func (h Health) Slots(limit int) int {
	switch {
	case h.Held():
		return 1
	case h.Ramp > 0:
		return min(h.Ramp, limit)
	case h.Failures >= quickEnough:
		return max(limit/fewOf, 1)
	default:
		return limit
	}
}

// Room tells how many deliveries may be claimed: window in good health, as many as there are slots in any other, and none
// until it is time to probe.
func (h Health) Room(limit, window int, now time.Time) int {
	switch {
	case now.Before(h.HeldUntil):
		return 0
	case h.Slow || h.Failures >= quickEnough || h.Held() || h.Ramp > 0:
		return h.Slots(limit)
	default:
		return window
	}
}
