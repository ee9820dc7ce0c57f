package servicetest

import (
	"sync/atomic"
	"time"
)

// Clock shows the same time until a test moves the clock. Times are in UTC, with the microseconds that Postgres stores.
type Clock struct{ micros atomic.Int64 }

// NewClock makes a clock that stands at at.
func NewClock(at time.Time) *Clock {
	c := &Clock{}
	c.Set(at)
	return c
}

// Now implements ports.Clock.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

// Set moves the clock to at.
func (c *Clock) Set(at time.Time) { c.micros.Store(at.UnixMicro()) }

// Add moves the clock by d.
func (c *Clock) Add(d time.Duration) { c.micros.Add(d.Microseconds()) }
