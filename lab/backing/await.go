package backing

import (
	"context"
	"errors"
	"time"
)

// pollEvery is the time between two questions to a server.
const pollEvery = 20 * time.Millisecond

// await asks again and again until the answer is nil. A closed ended, which may be nil, ends the wait too.
//
// Returns the end of ctx with the last answer before it, which tells more.
func await(ctx context.Context, ended <-chan struct{}, ask func() error) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	var last error
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-poll.C:
		}
	}
}

var errEnded = errors.New("the process has ended")
