package main

import "time"

// stepEvery is the interval at which a step of the sandbox's start prints how long it has been running.
const stepEvery = 5 * time.Second

// step runs a named part of the sandbox's start and prints its begin, its end, and every so often its duration.
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
