package webhook

import "time"

// Health holds what the attempts of a subscription show about its endpoint. It decides the lane (a queue for quick
// endpoints, or one for slow and failing ones), how many deliveries dispatchers may reserve for an attempt, and how
// many POSTs may be in flight, so that a dead receiver does not delay other partners (delivery.md, point 9). An
// endpoint that keeps failing has a circuit breaker: an open circuit lets one POST through at a time, as a probe,
// and a half-open circuit (Ramp > 0) doubles the POSTs with each success.
//
//	          slow or failed            keeps failing                  probe succeeds
//	fast lane ──────────────▶ slow lane ─────────────▶ open: one probe ─────────────▶ half-open: ramp 1, 2, 4, …
//	    ▲                         │                     ▲     │ fails: twice the wait       │ fails: half
//	    └── quick successes ──────┘                     └─────┴────── keeps failing ────────┤
//	    ▲                                                                                   │
//	    └────────────────────────────── ramp reaches the limit ─────────────────────────────┘
type Health struct {
	Failures     int
	FailingSince time.Time // When the endpoint's row of failures began; zero: the last attempt succeeded.
	// Whether deliveries to the endpoint use the slow lane, since attempts were slow or failed.
	Slow bool
	// The number of quick successes in a row, counted in the slow lane.
	Quick int
	// The number of failed probes (single POSTs while the circuit is open) in a row; database column holds.
	FailedProbes int
	// When the next probe of the endpoint may start; zero: the circuit is not open; database column held_until.
	OpenUntil time.Time
	// How many POSTs may be in flight while the circuit is half-open; 0: it is not.
	Ramp int
	// Whether the partner was notified of trouble with the endpoint and not yet of its recovery.
	Trouble bool
}

const (
	// An attempt that takes this long moves the subscription to the slow lane.
	slowAttempt = 2 * time.Second
	// After this many quick successes an endpoint returns to the fast lane; after this many failures it moves to the
	// slow lane.
	quickEnough  = 5
	failingShare = 8 // A failing subscription may have one in this many of the usual POSTs in flight.
	// The number of failures in a row that opens the circuit, if they have lasted for openAge.
	openAfter = 20
	// The least duration of a row of failures that opens the circuit. The first retry comes later.
	openAge = 5 * time.Second
	// The pause before the first probe. Each failed probe doubles it, up to longestPause.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	maxDoublings = 10
	// excusedDoublings is how often the pause between probes may double while this service's internet connection is
	// broken.
	excusedDoublings = 4
	// DisableAfter is how long every attempt must have failed before the subscription is disabled (api.md §5).
	DisableAfter = 5 * 24 * time.Hour
)

// Flawless reports whether a success changes nothing in the endpoint's health.
func (h Health) Flawless() bool { return h == Health{} }

// CircuitOpen reports whether the circuit is open, so that only probes may be sent to the endpoint.
func (h Health) CircuitOpen() bool { return !h.OpenUntil.IsZero() }

// InSlowLane reports whether deliveries to the endpoint use the slow lane.
func (h Health) InSlowLane() bool { return h.Slow || h.CircuitOpen() || h.Ramp > 0 }

// ShouldDisable reports whether every attempt of the last DisableAfter has failed, so that the subscription is to be
// disabled.
func (h Health) ShouldDisable(now time.Time) bool {
	return !h.FailingSince.IsZero() && now.Sub(h.FailingSince) >= DisableAfter
}

// AfterAttempt returns the endpoint's health after an attempt. limit is WEBHOOK_ENDPOINT_CONCURRENCY.
func (h Health) AfterAttempt(a Attempt, limit int, now time.Time) Health {
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
	// A few failures halve the POSTs of a half-open circuit, but do not open it again.
	if h.Ramp > 0 && h.Failures < quickEnough {
		h.Ramp = max(h.Ramp/2, 1)
		return h
	}
	if h.CircuitOpen() || h.Ramp > 0 || keepsFailing {
		if now.Before(h.OpenUntil) {
			// The POST began before the circuit opened, so it was no probe.
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

// MaxPostsInFlight returns how many POSTs to the endpoint may be in flight: limit in good health, a share of it
// after some failures, 1 for a probe while the circuit is open, and more with each success while it is half-open.
func (h Health) MaxPostsInFlight(limit int) int {
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

// ClaimLimit returns how many deliveries to the endpoint dispatchers may reserve for an attempt: window in good
// health, MaxPostsInFlight in bad health, and none while the circuit is open and no probe is due.
func (h Health) ClaimLimit(limit, window int, now time.Time) int {
	if now.Before(h.OpenUntil) {
		return 0
	}
	if h.InSlowLane() || h.Failures >= quickEnough {
		return h.MaxPostsInFlight(limit)
	}
	return window
}
