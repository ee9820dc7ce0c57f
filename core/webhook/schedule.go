package webhook

import (
	"time"
)

// Schedule holds the waits before each attempt: the first one is 0 ("at once"), the others count from the attempt before.
type Schedule []time.Duration

// DefaultSchedule is that of api.md §5: 11 attempts over about 69 hours.
var DefaultSchedule = Schedule{0, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour}

// MaxRetryAfter caps what a receiver can ask for.
const MaxRetryAfter = time.Hour

// jitterShare spreads retries by ±10 %, so that what failed together does not come back together.
const jitterShare = 0.1

// After gives the wait after the attempt-th failed attempt (1-based). random is uniform in [0,1).
// retryAfter is the receiver's wish on 429 and 503: a floor, capped at MaxRetryAfter.
// ok is false when there is no further attempt.
func (s Schedule) After(attempt int, retryAfter time.Duration, random float64) (wait time.Duration, ok bool) {
	if attempt >= len(s) {
		return 0, false
	}
	base := s[attempt]
	wait = base + time.Duration(float64(base)*jitterShare*(2*random-1))
	return max(wait, min(retryAfter, MaxRetryAfter)), true
}
