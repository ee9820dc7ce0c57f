package dispatch

import "time"

const (
	// followPoll is how soon a follower looks at the outbox after a ring.
	followPoll = 250 * time.Millisecond
	// followPatience is how long a follower leaves an event to the leader.
	followPatience = 200 * time.Millisecond
	// helpSpan is how long a follower relays at each ring after the leader has left an event: until the leader is known
	// to be gone, or has caught up.
	helpSpan = 3 * time.Second
)

// lead decides whether this dispatcher relays or follows. A single relay takes large batches; several would share
// the same events in small ones. Nothing but that depends on who leads: relays of several dispatchers exclude each
// other by locks. Its methods belong to the goroutine of the relay's loop.
type lead struct {
	leads   func() bool
	watches bool      // a follower looks at the outbox soon
	helped  time.Time // when the leader last left an event; zero: never
}

// follows reports whether another dispatcher relays.
func (l *lead) follows(now time.Time) bool {
	return now.Sub(l.helped) >= helpSpan && !l.leads()
}

// leaves reports whether an event that has waited so long is left to the leader. If not, a follower helps from now on.
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

// wait shortens the wait for the next poll of a follower that watches the leader.
func (l *lead) wait(poll time.Duration) time.Duration {
	if l.watches {
		return min(poll, followPoll)
	}
	return poll
}
