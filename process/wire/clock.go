package wire

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// clockTolerance is the difference from which the check fails, and the alert ClockSkewed fires.
const clockTolerance = 30 * time.Second

// clock is how far Postgres's clock was ahead of this process's when Postgres answered last.
type clock struct{ ahead atomic.Pointer[time.Duration] }

func (c *clock) note(ahead time.Duration, answered bool) {
	if answered {
		c.ahead.Store(&ahead)
	} else {
		c.ahead.Store(nil)
	}
}

// skew is not known while Postgres is away.
func (c *clock) skew() (ahead time.Duration, known bool) {
	if last := c.ahead.Load(); last != nil {
		return *last, true
	}
	return 0, false
}

// skewed is the error of a clock beyond the tolerance.
type skewed time.Duration

func (s skewed) Error() string {
	return fmt.Sprintf("Postgres's clock is %s ahead of this machine's", time.Duration(s))
}

func (c *clock) check(context.Context) error {
	if ahead, _ := c.skew(); ahead.Abs() > clockTolerance {
		return skewed(ahead)
	}
	return nil
}

// clockProblem rounds to tens of seconds, so that a clock that drifts is not told anew with each second.
func clockProblem(err error) string {
	ahead := time.Duration(err.(skewed)) //nolint:errorlint // of check, never wrapped
	return "differs from Postgres's by " + ahead.Abs().Round(10*time.Second).String()
}
