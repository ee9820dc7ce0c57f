package servicetest

import (
	"sync/atomic"
	"time"
)

// Clock is a clock for tests that shows the same time until a test moves it. Its times are in UTC, with the
// microseconds that Postgres stores.
type Clock struct{ micros atomic.Int64 }

// NewClock returns a test clock that shows the given time.
func NewClock(at time.Time) *Clock {
	c := &Clock{}
	c.Set(at)
	return c
}

// Now returns the time that the test clock shows.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

// Set sets the test clock to the given time.
func (c *Clock) Set(at time.Time) { c.micros.Store(at.UnixMicro()) }

// Add moves the test clock ahead by the given duration.
func (c *Clock) Add(d time.Duration) { c.micros.Add(d.Microseconds()) }
