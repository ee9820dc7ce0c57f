package main

// failure wraps the error with which check ends a step of a benchmark.
type failure struct{ error }

// check ends the running benchmark step on an error, by a panic that attempt recovers. Functions that run under
// load return their errors.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns value, or ends the running benchmark step if err is not nil.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// attempt runs a benchmark step and returns the error that ended it.
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
