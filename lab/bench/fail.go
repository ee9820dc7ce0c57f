package main

// failure wraps the error that ended a step of a benchmark; check panics with it.
type failure struct{ error }

// check ends the running step of a benchmark if err is not nil, by a panic that attempt recovers. Only the
// goroutine of the step may call check; functions that run under load return their errors.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns value, or ends the running step of a benchmark if err is not nil.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// attempt runs a step of a benchmark and returns the error that ended it.
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
