package deposit

import "time"

// Timers are the configurable durations of a deposit (api.md §3).
type Timers struct {
	CaptureWindow     time.Duration // how long after contractEndAt a capture is possible
	CoverMax          time.Duration // upper limit of the cover, from activation
	CheckoutIdleAfter time.Duration // how long a started checkout may rest until the deposit becomes incomplete
}

// DefaultTimers are the defaults of api.md §3.
func DefaultTimers() Timers {
	return Timers{CaptureWindow: 14 * 24 * time.Hour, CoverMax: 60 * 24 * time.Hour,
		CheckoutIdleAfter: 30 * time.Minute}
}

// The least durations, whatever the contract says.
const (
	leastCheckout = 24 * time.Hour
	leastCoverage = 24 * time.Hour
)

// CheckoutExpiry is max(contractEndAt, createdAt + 24 h).
func CheckoutExpiry(contractEnd, created time.Time) time.Time {
	return latest(contractEnd, created.Add(leastCheckout))
}

// CoverageEnd is min(max(contractEndAt + claim window, activatedAt + 24 h), activatedAt + maximum).
func (t Timers) CoverageEnd(contractEnd, activated time.Time) time.Time {
	end := latest(contractEnd.Add(t.CaptureWindow), activated.Add(leastCoverage))
	if limit := activated.Add(t.CoverMax); end.After(limit) {
		return limit
	}
	return end
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
