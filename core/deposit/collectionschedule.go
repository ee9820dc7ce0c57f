package deposit

import (
	"fmt"
	"time"
)

// Bounds of automatic charges. The card networks allow 15 charges of a card for the same debt within 30 days.
const (
	MaxAttempts = 15
	LastAttempt = 30 * 24 * time.Hour
)

// CollectionSchedule holds the times of the charges of a card, counted from the capture (COLLECTION_RETRY_SCHEDULE).
type CollectionSchedule []time.Duration

// DefaultCollectionSchedule charges at once, and after one, three and seven days.
func DefaultCollectionSchedule() CollectionSchedule {
	const day = 24 * time.Hour
	return CollectionSchedule{0, day, 3 * day, 7 * day}
}

// Mistake says why the schedule cannot be used, as a clause after its name; "" for a good one.
func (s CollectionSchedule) Mistake() string {
	if n := len(s); n < 1 || n > MaxAttempts {
		return fmt.Sprintf("must have 1 to %d times: the card networks allow no more charges for a debt", MaxAttempts)
	}
	for i, at := range s {
		if at < 0 {
			return fmt.Sprintf("%s is before the capture", at)
		}
		if at > LastAttempt {
			return fmt.Sprintf("%s is later than %s after the capture: the card networks allow no later charge", at, LastAttempt)
		}
		if i > 0 && at <= s[i-1] {
			return fmt.Sprintf("%s does not come after %s: the times count from the capture and increase", at, s[i-1])
		}
	}
	return ""
}

// After gives the time of the charge that follows the attempt-th, counted from 1 and answered at now; more is false
// when there is none. Times that passed before now, as in an outage, are one with that attempt: the next charge then
// follows after the schedule's next interval, counted from now, so that a card that was refused just now is not charged
// again at once.
func (s CollectionSchedule) After(attempt int, captured, now time.Time) (next time.Time, more bool) {
	if attempt < 1 || attempt >= len(s) {
		return time.Time{}, false
	}
	next = captured.Add(s[attempt])
	if !next.After(now) {
		next = now.Add(s[attempt] - s[attempt-1])
	}
	return next, !next.After(captured.Add(LastAttempt))
}

func (s CollectionSchedule) first() time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[0]
}
