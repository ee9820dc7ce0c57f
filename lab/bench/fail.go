package main

import (
	"context"
	"time"
)

// failure carries the first error of a step to measure.
type failure struct{ error }

// check ends the step with an error. A step reads like a test: the first error ends it. Only the goroutine of the step
// may check; calls of a load return their errors.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must gives a value, or ends the step with the error.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// attempt runs a step and returns the error that ended it.
func attempt(step func()) (err error) {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case failure:
			err = ended.error
		default:
			panic(ended)
		}
	}()
	step()
	return nil
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
