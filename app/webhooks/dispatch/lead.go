package dispatch

import "time"

const (
	// followPoll is the time after a wake-up notification at which a follower queries the outbox.
	followPoll = 250 * time.Millisecond
	// followPatience is how long a follower waits for the leader to relay an event.
	followPatience = 200 * time.Millisecond
	// helpSpan is how long a follower relays at each wake-up notification after the leader has left an event
	// unrelayed: until the leader is known to be gone, or has caught up.
	helpSpan = 3 * time.Second
)

// lead decides whether this dispatcher relays or follows another one. A single relay takes large batches; several
// would share the same events in small ones. Only that depends on which dispatcher leads: relays of several
// dispatchers exclude each other by locks. Its methods belong to the goroutine of the relay's loop.
type lead struct {
	leads   func() bool
	watches bool      // true: a follower queries the outbox soon; false: it does not.
	helped  time.Time // When the leader last left an event unrelayed; zero: never.
}

// follows reports whether another dispatcher relays, so that this one only watches.
func (l *lead) follows(now time.Time) bool {
	return now.Sub(l.helped) >= helpSpan && !l.leads()
}

// leaves reports whether a dispatcher leaves an event that has waited so long to the leader. If not, a follower
// relays from now on.
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

// wait returns the time until the next poll of the outbox, which is short for a follower that watches the leader.
func (l *lead) wait(poll time.Duration) time.Duration {
	if l.watches {
		return min(poll, followPoll)
	}
	return poll
}
