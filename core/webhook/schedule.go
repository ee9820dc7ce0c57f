package webhook

import (
	"time"
)

// Schedule holds the wait before each attempt of a delivery. The first wait is 0; each other wait starts at the end
// of the attempt before.
type Schedule []time.Duration

// DefaultSchedule is the default retry schedule of deliveries: 11 attempts over about 69 hours (api.md §5).
var DefaultSchedule = Schedule{0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour}

// MaxRetryAfter is the longest wait that a receiver can request with the header Retry-After.
const MaxRetryAfter = time.Hour

// jitterShare is the random variation of a wait between attempts, ±10 %, so that deliveries that failed together
// are not retried together.
const jitterShare = 0.1

// After returns the wait after the attempt-th failed attempt, counted from 1. random is uniform in [0,1). The wait
// is at least retryAfter, which the receiver requested with a 429 or 503, capped at MaxRetryAfter. ok is false
// after the last attempt.
func (s Schedule) After(attempt int, retryAfter time.Duration, random float64) (wait time.Duration, ok bool) {
	if attempt >= len(s) {
		return 0, false
	}
	base := s[attempt]
	wait = base + time.Duration(float64(base)*jitterShare*(2*random-1))
	return max(wait, min(retryAfter, MaxRetryAfter)), true
}

// Verdict is what becomes of a delivery after an attempt: its state, and the wait until the next attempt.
type Verdict struct {
	State State
	Wait  time.Duration // The time until the delivery's next attempt, while its state is Waiting.
}

// GivesUp reports whether the verdict gives up a delivery that the endpoint did not accept. It is false for a test
// delivery, whose only result its caller sees.
func (v Verdict) GivesUp(test bool) bool { return v.State == Failed && !test }

// Judge returns the state of a delivery after an attempt. A test delivery is never retried (api.md §2).
func (s Schedule) Judge(a Attempt, test bool, random float64) Verdict {
	if a.OK() {
		return Verdict{State: Succeeded}
	}
	if test {
		return Verdict{State: Failed}
	}
	wait, ok := s.After(a.Number, a.RetryAfter, random)
	if !ok {
		return Verdict{State: Failed}
	}
	return Verdict{State: Waiting, Wait: wait}
}
