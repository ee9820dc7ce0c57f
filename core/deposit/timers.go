package deposit

import "time"

// TimerDurations holds the configurable durations of a deposit (api.md §3).
type TimerDurations struct {
	CaptureWindow     time.Duration // How long after the end of the rental a capture is possible.
	CoverMax          time.Duration // The longest cover of a deposit, counted from activation.
	CheckoutIdleAfter time.Duration
}

// DefaultTimerDurations returns the documented defaults (api.md §3).
func DefaultTimerDurations() TimerDurations {
	return TimerDurations{CaptureWindow: 14 * 24 * time.Hour, CoverMax: 60 * 24 * time.Hour,
		CheckoutIdleAfter: 30 * time.Minute}
}

// The shortest checkout and cover of a deposit, however early the rental ends.
const (
	leastCheckout = 24 * time.Hour
	leastCoverage = 24 * time.Hour
)

// CheckoutExpiry returns when the checkout of a deposit ends: max(contractEndAt, createdAt + 24 h).
func CheckoutExpiry(contractEnd, created time.Time) time.Time {
	return latest(contractEnd, created.Add(leastCheckout))
}

// CoverEndTime returns when a deposit's cover ends: min(max(contractEndAt + CaptureWindow, activatedAt + 24 h),
// activatedAt + CoverMax).
func (t TimerDurations) CoverEndTime(contractEnd, activated time.Time) time.Time {
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
