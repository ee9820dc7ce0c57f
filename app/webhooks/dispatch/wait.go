package dispatch

import (
	"context"
	"time"
)

// signal sends a signal to a channel that holds a single one, without waiting: if one is in the channel already,
// it does nothing.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits for a span of time, and reports whether the span passed before ctx ended.
func pause(ctx context.Context, span time.Duration) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
