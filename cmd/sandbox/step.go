package main

import "time"

// stepEvery is the time after which a step of the sandbox's start that still runs prints its duration again: a
// first start installs servers, which takes a while.
const stepEvery = 5 * time.Second

// step runs do, a named part of the sandbox's start. It prints when the part begins, every so often for how long, and
// the end.
func step(say func(string, ...any), name string, every time.Duration, do func() error) error {
	begin := time.Now()
	seconds := func() float64 { return time.Since(begin).Seconds() }
	say("%s …", name)
	done := make(chan error, 1)
	go func() { done <- do() }()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			say("%s … %.0f s", name, seconds())
		case err := <-done:
			if err == nil {
				say("%s: done in %.1f s", name, seconds())
			}
			return err
		}
	}
}
