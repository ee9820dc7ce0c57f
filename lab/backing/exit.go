package backing

import "sync"

var atExit struct {
	mu    sync.Mutex
	steps []func()
}

// AtExit registers a step that RunTests calls after the tests; the last registered step runs first.
func AtExit(step func()) {
	atExit.mu.Lock()
	defer atExit.mu.Unlock()
	atExit.steps = append(atExit.steps, step)
}

// RunTests runs a test binary's tests (a *testing.M), then the steps of AtExit, and returns the exit code.
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
