package wire

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// clockTolerance is the difference between Postgres's and this machine's clocks from which the check and the alert
// ClockSkewed fire.
const clockTolerance = 30 * time.Second

// clock holds how far Postgres's clock was ahead of this machine's at its last answer.
type clock struct{ ahead atomic.Pointer[time.Duration] }

func (c *clock) note(ahead time.Duration, answered bool) {
	if answered {
		c.ahead.Store(&ahead)
	} else {
		c.ahead.Store(nil)
	}
}

// skew returns how far Postgres's clock is ahead of this machine's. known is false while Postgres is unreachable.
func (c *clock) skew() (ahead time.Duration, known bool) {
	if last := c.ahead.Load(); last != nil {
		return *last, true
	}
	return 0, false
}

type clockSkewError time.Duration

func (s clockSkewError) Error() string {
	return fmt.Sprintf("Postgres's clock is %s ahead of this machine's", time.Duration(s))
}

func (c *clock) check(context.Context) error {
	if ahead, _ := c.skew(); ahead.Abs() > clockTolerance {
		return clockSkewError(ahead)
	}
	return nil
}

// clockProblem describes a difference of clocks in tens of seconds, so that a drifting clock is not logged each
// second.
func clockProblem(err error) string {
	ahead := time.Duration(err.(clockSkewError)) //nolint:errorlint // of check, never wrapped
	return "differs from Postgres's by " + ahead.Abs().Round(10*time.Second).String()
}
