package servicetest

import (
	"sync/atomic"
	"time"
)

// Clock is a test's clock that stands still until it is moved. Its times are in UTC with Postgres's microseconds.
type Clock struct{ micros atomic.Int64 }

func NewClock(at time.Time) *Clock {
	c := &Clock{}
	c.Set(at)
	return c
}

func (c *Clock) Now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

func (c *Clock) Set(at time.Time) { c.micros.Store(at.UnixMicro()) }

func (c *Clock) Add(d time.Duration) { c.micros.Add(d.Microseconds()) }
