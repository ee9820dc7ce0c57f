package main

// failure carries the first error of a step to measure.
type failure struct{ error }

// check ends the step with an error. Only the goroutine of the step may check; calls of a load return their errors.
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
