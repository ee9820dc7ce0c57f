package dispatch

import "time"

const (
	// calmPoll is the time between two polls while wake-up notifications arrive. Such a poll finds the events of a
	// process that died between its commit and its notification.
	calmPoll = time.Second
	// lateRing is the time within which a wake-up notification may follow a poll that found its event first.
	lateRing = 100 * time.Millisecond
	// suspicion is how long polls stay quick after a poll found work that no wake-up notification announced.
	suspicion = 10 * time.Second
)

// polls decides how soon a background loop polls the database again. Its methods belong to the goroutine of
// that loop.
type polls struct {
	quick time.Duration
	works func() bool
	// When a poll found work that no wake-up notification announced, or failed; zero: never, or the notification
	// came late.
	suspect time.Time
}

// wait returns the time until the next poll of the database.
func (p *polls) wait(now time.Time) time.Duration {
	if !p.works() || now.Sub(p.suspect) < suspicion {
		return p.quick
	}
	return max(p.quick, calmPoll)
}

// rung records that a wake-up notification arrived, so that the loop may poll seldom.
func (p *polls) rung(now time.Time) {
	if now.Sub(p.suspect) < lateRing {
		p.suspect = time.Time{}
	}
}

// surprised records that a poll found work that no wake-up notification announced, or that polling failed.
func (p *polls) surprised(now time.Time) { p.suspect = now }
