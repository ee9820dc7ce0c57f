package webhook

import (
	"time"
)

// RetrySchedule holds the wait before each attempt of a delivery. The first wait is 0; each other wait starts at the
// end of the attempt before.
type RetrySchedule []time.Duration

// DefaultRetrySchedule is the default retry schedule of deliveries: 11 attempts over about 69 hours (api.md §5).
var DefaultRetrySchedule = RetrySchedule{0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour}

// MaxRetryAfter is the longest wait that a receiver can request with the header Retry-After.
const MaxRetryAfter = time.Hour

// jitterShare is the random variation of a wait between attempts, ±10 %, so that deliveries that failed together
// are not retried together.
const jitterShare = 0.1

// WaitAfter returns the wait after the attempt-th failed attempt, counted from 1. random is uniform in [0,1). The wait
// is at least retryAfter, which the receiver requested with a 429 or 503, capped at MaxRetryAfter. ok is false
// after the last attempt.
func (s RetrySchedule) WaitAfter(attempt int, retryAfter time.Duration, random float64) (wait time.Duration, ok bool) {
	if attempt >= len(s) {
		return 0, false
	}
	base := s[attempt]
	wait = base + time.Duration(float64(base)*jitterShare*(2*random-1))
	return max(wait, min(retryAfter, MaxRetryAfter)), true
}

// DeliveryVerdict is what becomes of a delivery after an attempt: its state, and the wait until the next attempt.
type DeliveryVerdict struct {
	State DeliveryState
	Wait  time.Duration // The time until the delivery's next attempt, while its state is Waiting.
}

// GivesUp reports whether the verdict gives up a delivery that the endpoint did not accept. It is false for a test
// delivery, whose only result its caller sees.
func (v DeliveryVerdict) GivesUp(test bool) bool { return v.State == DeliveryStateFailed && !test }

// JudgeAttempt returns the state of a delivery after an attempt. A test delivery is never retried (api.md §2).
func (s RetrySchedule) JudgeAttempt(a Attempt, test bool, random float64) DeliveryVerdict {
	if a.OK() {
		return DeliveryVerdict{State: DeliveryStateSucceeded}
	}
	if test {
		return DeliveryVerdict{State: DeliveryStateFailed}
	}
	wait, ok := s.WaitAfter(a.Number, a.RetryAfter, random)
	if !ok {
		return DeliveryVerdict{State: DeliveryStateFailed}
	}
	return DeliveryVerdict{State: DeliveryStateWaiting, Wait: wait}
}
