package dispatch

import "time"

const (
	// followPoll is the time after a wake-up notification at which a dispatcher that is not the leader checks
	// whether the leader has handled the events in the outbox.
	followPoll     = 250 * time.Millisecond
	followPatience = 200 * time.Millisecond
	// helpSpan is how long a dispatcher helps the leader after the leader has left an event in the outbox too
	// long: until the leader is known to be gone, or has caught up.
	helpSpan = 3 * time.Second
)

// lead decides whether this dispatcher makes deliveries of the events in the outbox, or leaves that to the leader,
// whose large batches cost less.
type lead struct {
	leads   func() bool
	watches bool
	helped  time.Time // When the leader last left an event in the outbox too long; zero: never.
}

// follows reports whether another dispatcher, the leader, makes deliveries of the events in the outbox.
func (l *lead) follows(now time.Time) bool {
	return now.Sub(l.helped) >= helpSpan && !l.leads()
}

// leaves reports whether this dispatcher leaves to the leader an event that has waited so long in the outbox.
func (l *lead) leaves(waited time.Duration, now time.Time) bool {
	switch {
	case !l.follows(now):
		return false
	case waited < followPatience:
		return true
	}
	l.helped = now
	return false
}

// wait returns the time until the next poll of the outbox, which is short while this dispatcher checks whether
// the leader handles an event.
func (l *lead) wait(poll time.Duration) time.Duration {
	if l.watches {
		return min(poll, followPoll)
	}
	return poll
}
