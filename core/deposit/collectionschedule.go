package deposit

import (
	"fmt"
	"time"
)

// The card networks allow 15 charges of a card within 30 days.
const (
	MaxChargeAttempts   = 15
	ChargeAttemptWindow = 30 * 24 * time.Hour
)

// CollectionSchedule holds the times at which a card is charged for a debt, counted from the capture
// (COLLECTION_RETRY_SCHEDULE).
type CollectionSchedule []time.Duration

// DefaultCollectionSchedule charges at the capture and one, three and seven days later.
func DefaultCollectionSchedule() CollectionSchedule {
	const day = 24 * time.Hour
	return CollectionSchedule{0, day, 3 * day, 7 * day}
}

// FindMistake returns why a schedule of charges cannot be used, as a clause after the setting's name; "" for a
// valid one.
func (s CollectionSchedule) FindMistake() string {
	if n := len(s); n < 1 || n > MaxChargeAttempts {
		return fmt.Sprintf("must have 1 to %d times: the card networks allow no more charges for a debt", MaxChargeAttempts)
	}
	for i, at := range s {
		if at < 0 {
			return fmt.Sprintf("%s is before the capture", at)
		}
		if at > ChargeAttemptWindow {
			return fmt.Sprintf("%s is later than %s after the capture: the card networks allow no later charge", at, ChargeAttemptWindow)
		}
		if i > 0 && at <= s[i-1] {
			return fmt.Sprintf("%s does not come after %s: the times count from the capture and increase", at, s[i-1])
		}
	}
	return ""
}

// NextChargeAfter returns the time of the charge that follows the attempt-th charge, which was answered at now.
// Attempts count from 1. more is false if no charge follows. Times that have passed, as in an outage, are skipped;
// the next charge then follows one interval after now.
func (s CollectionSchedule) NextChargeAfter(attempt int, captured, now time.Time) (next time.Time, more bool) {
	if attempt < 1 || attempt >= len(s) {
		return time.Time{}, false
	}
	next = captured.Add(s[attempt])
	if !next.After(now) {
		next = now.Add(s[attempt] - s[attempt-1])
	}
	return next, !next.After(captured.Add(ChargeAttemptWindow))
}

func (s CollectionSchedule) first() time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[0]
}
