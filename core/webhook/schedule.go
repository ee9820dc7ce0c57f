package webhook

import (
	"time"
)

// RetrySchedule holds the wait before each attempt of a delivery, from the end of the one before. The first is 0.
type RetrySchedule []time.Duration

// DefaultRetrySchedule makes 11 attempts over about 69 hours (api.md §5).
var DefaultRetrySchedule = RetrySchedule{0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour}

// MaxRetryAfter is the longest wait that a receiver can request.
const MaxRetryAfter = time.Hour

// jitterShare is the random variation of a wait, ±10 %, so that deliveries that failed together are not retried
// together.
const jitterShare = 0.1

// WaitAfter returns the wait after the attempt-th failed attempt, counted from 1; ok is false after the last.
// random is uniform in [0,1). The wait is at least retryAfter, capped at MaxRetryAfter.
func (s RetrySchedule) WaitAfter(attempt int, retryAfter time.Duration, random float64) (wait time.Duration, ok bool) {
	if attempt >= len(s) {
		return 0, false
	}
	base := s[attempt]
	wait = base + time.Duration(float64(base)*jitterShare*(2*random-1))
	return max(wait, min(retryAfter, MaxRetryAfter)), true
}

// DeliveryVerdict is what becomes of a delivery after an attempt.
type DeliveryVerdict struct {
	State DeliveryState
	Wait  time.Duration // The time until the delivery's next attempt, while its state is Waiting.
}

// GivesUp reports whether the verdict gives up an undelivered delivery; false for a test, whose caller sees the
// result.
func (v DeliveryVerdict) GivesUp(test bool) bool { return v.State == DeliveryStateFailed && !test }

// JudgeAttempt returns what becomes of a delivery after an attempt. Tests are never retried (api.md §2).
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
