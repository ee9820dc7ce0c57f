package backing

import "sync"

var atExit struct {
	mu    sync.Mutex
	steps []func()
}

// AtExit has RunTests call step after the tests, last registered first.
func AtExit(step func()) {
	atExit.mu.Lock()
	defer atExit.mu.Unlock()
	atExit.steps = append(atExit.steps, step)
}

// RunTests runs a test binary's tests (a *testing.M), then what AtExit was given, and returns the exit code.
func RunTests(m interface{ Run() int }) int {
	defer func() {
		atExit.mu.Lock()
		steps := atExit.steps
		atExit.steps = nil
		atExit.mu.Unlock()
		for i := len(steps) - 1; i >= 0; i-- {
			steps[i]()
		}
	}()
	return m.Run()
}
