package webhook

import "time"

// Health is what the attempts of a subscription say of its endpoint. It decides the lane, how many deliveries may be
// claimed and how many POSTs may be in flight, so that a dead receiver does not delay other partners
// (delivery.md, point 9). The part for endpoints that keep failing is a circuit breaker: an open circuit lets one probe
// through at a time, and a half-open circuit (Ramp > 0) doubles the POSTs with each success.
//
//	          slow or failed            keeps failing                  probe succeeds
//	fast lane ──────────────▶ slow lane ─────────────▶ open: one probe ─────────────▶ half-open: ramp 1, 2, 4, …
//	    ▲                         │                     ▲     │ fails: twice the wait       │ fails: half
//	    └── quick successes ──────┘                     └─────┴────── keeps failing ────────┤
//	    ▲                                                                                   │
//	    └────────────────────────────── ramp reaches the limit ─────────────────────────────┘
type Health struct {
	Failures     int       // in a row
	FailingSince time.Time // the first of them; zero: the last attempt succeeded
	Slow         bool      // in the slow lane
	Quick        int       // quick successes in a row, while Slow
	FailedProbes int       // in a row; column holds
	OpenUntil    time.Time // when the next probe may start; zero: the circuit is not open; column held_until
	Ramp         int       // POSTs that may be in flight while the circuit is half-open; 0: not half-open
	Trouble      bool      // a notice told of trouble, and none of a recovery since (notice.go)
}

const (
	slowAttempt  = 2 * time.Second // an attempt of this duration moves the subscription to the slow lane
	quickEnough  = 5               // successes that lead back to the fast lane, and failures that lead to the slow lane
	failingShare = 8               // a failing subscription has the 8th part of its slots
	openAfter    = 20              // failures in a row, and …
	openAge      = 5 * time.Second // … their age, that open the circuit; the first retry comes after this time
	firstPause   = time.Second     // before the first probe; each failed probe doubles it, up to …
	longestPause = 5 * time.Minute
	maxDoublings = 10
	// excusedDoublings bounds the pauses while our own way out is broken (outbound.go): 16 s.
	excusedDoublings = 4
	// DisableAfter is how long a subscription may do nothing but fail before it is disabled (api.md §5).
	DisableAfter = 5 * 24 * time.Hour
)

// Clean reports whether the health holds no finding. A success leaves a clean health unchanged.
func (h Health) Clean() bool { return h == Health{} }

// CircuitOpen reports whether only probes may be sent.
func (h Health) CircuitOpen() bool { return !h.OpenUntil.IsZero() }

// InSlowLane reports whether deliveries take the slow lane.
func (h Health) InSlowLane() bool { return h.Slow || h.CircuitOpen() || h.Ramp > 0 }

// Disable reports whether every attempt of the last DisableAfter has failed.
func (h Health) Disable(now time.Time) bool {
	return !h.FailingSince.IsZero() && now.Sub(h.FailingSince) >= DisableAfter
}

// After returns the health after a further attempt. limit is WEBHOOK_ENDPOINT_CONCURRENCY.
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
	keepsFailing := h.Failures >= openAfter && now.Sub(h.FailingSince) >= openAge
	if h.Ramp > 0 && h.Failures < quickEnough { // a few failures do not stop a recovery
		h.Ramp = max(h.Ramp/2, 1)
		return h
	}
	if h.CircuitOpen() || h.Ramp > 0 || keepsFailing {
		if now.Before(h.OpenUntil) { // the POST began before the circuit opened, so this was no probe
			return h
		}
		h.OpenUntil = now.Add(min(firstPause<<min(h.FailedProbes, maxDoublings), longestPause))
		h.FailedProbes++
		h.Ramp = 0
		h.Trouble = true
	}
	return h
}

func (h Health) afterSuccess(quick bool, limit int) Health {
	h.Failures, h.FailingSince, h.FailedProbes = 0, time.Time{}, 0
	if h.CircuitOpen() {
		h.OpenUntil, h.Ramp = time.Time{}, 1
	} else {
		h.Ramp *= 2
	}
	if h.Ramp >= limit {
		h.Ramp = 0
	}
	h.Trouble = h.Trouble && h.Ramp > 0
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

// Slots returns how many POSTs may be in flight: limit, a share of limit after some failures, the ramp while the
// circuit is half-open, and 1 for a probe while the circuit is open.
func (h Health) Slots(limit int) int {
	if h.CircuitOpen() {
		return 1
	}
	if h.Ramp > 0 {
		return min(h.Ramp, limit)
	}
	if h.Failures >= quickEnough {
		return max(limit/failingShare, 1)
	}
	return limit
}

// Room returns how many deliveries may be claimed: window in good health, as many as Slots in bad health, and none
// while the circuit is open and the next probe is not due.
func (h Health) Room(limit, window int, now time.Time) int {
	if now.Before(h.OpenUntil) {
		return 0
	}
	if h.InSlowLane() || h.Failures >= quickEnough {
		return h.Slots(limit)
	}
	return window
}
