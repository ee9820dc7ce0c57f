// Package parallel processes the due rows of a scheduled job, several at a time.
package parallel

import (
	"fmt"
	"sync"
)

// BatchSize is the number of due rows that a job reads at a time.
const BatchSize = 200

// The number of rows that are processed at the same time; most of a row's time is a wait for the payment provider.
const workers = 4

// Each runs work for every item, a few at a time; calls of finished do not overlap. A panic counts as an error of
// its item.
func Each[T any](items []T, work func(T) (done bool, err error), finished func(item T, done bool, err error)) {
	EachWithLimit(workers, items, work, finished)
}

// EachWithLimit runs work for every item, n at a time, and otherwise behaves as Each.
func EachWithLimit[T any](n int, items []T, work func(T) (done bool, err error), finished func(item T, done bool,
	err error)) {
	slots := make(chan struct{}, n)
	var running sync.WaitGroup
	var mu sync.Mutex
	for _, item := range items {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			done, err := recovered(func() (bool, error) { return work(item) })
			mu.Lock()
			defer mu.Unlock()
			finished(item, done, err)
		})
	}
	running.Wait()
}

func recovered(work func() (bool, error)) (done bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			done, err = false, fmt.Errorf("panic: %v", r)
		}
	}()
	return work()
}
