// Package batch lets concurrent callers share work that would cost each caller a round trip: a transaction or
// a query serves a batch of callers.
package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Queue forms batches of the items that are passed to AddAndWait. Set the fields before the first call.
type Queue[T any] struct {
	Workers int
	Limit   int
	// The number of items that must wait before a second batch runs at the same time; a large batch costs less per
	// item.
	Threshold int
	Linger    time.Duration // How long a batch waits for further items before it runs.
	// Rest bounds the pause that follows a batch if several callers shared the batch, or if calls wait behind it. The
	// pause takes as long as the batch took.
	Rest time.Duration
	// Run works on the items of a batch, in the goroutine of one of its callers. An item that is a pointer carries
	// its result.
	Run func(batch []T)

	mu      sync.Mutex
	running int // The number of batches that run or grow.
	resting int // The number of pauses after a batch that are not over.
	demand  int // The number of calls that ran in the last batch or waited behind it when the pause after it began.
	waiting []*call[T]
	growing *growth // The batch that is growing; nil: none.
}

// errUnfinished is the value with which the callers of a batch panic if the goroutine that ran it ended by
// runtime.Goexit.
var errUnfinished = errors.New("batch: the goroutine that ran the batch ended before it")

// growth is a batch that waits for further items before it runs. Two batches never grow at the same time,
// because they would divide the items of a large batch.
type growth struct {
	missing int
	full    chan struct{}
}

// call is a call of AddAndWait that waits for its batch.
type call[T any] struct {
	item  T
	turn  chan turn[T]
	leads bool    // Whether this call runs the batch for the other callers.
	grows *growth // The growing batch that this call is to run; nil: the batch runs with the items that it has.
}

// turn is the message that ends the wait of a call: either the call leads a batch, or the batch of the call has
// run.
type turn[T any] struct {
	lead     []*call[T] // The batch that the call must run, with the call itself first; nil: the batch has run.
	panicked any
}

// AddAndWait adds an item to a batch, and returns when that batch has run. If the batch panics, every caller
// with an item in it panics.
func (q *Queue[T]) AddAndWait(item T) { q.do(nil, item) }

// AddAndWaitContext does what AddAndWait does, but returns the error of ctx if ctx ends while the item waits or
// another caller runs its batch, which may still use the item.
func (q *Queue[T]) AddAndWaitContext(ctx context.Context, item T) error {
	if left := q.do(ctx.Done(), item); left {
		return ctx.Err()
	}
	return nil
}

func (q *Queue[T]) do(done <-chan struct{}, item T) (left bool) {
	c := &call[T]{item: item}
	q.mu.Lock()
	if q.mayStart(len(q.waiting) + 1) {
		batch := append([]*call[T]{c}, q.take(q.Limit-1)...)
		q.start(batch)
		q.mu.Unlock()
		q.lead(batch)
		return false
	}
	c.turn = make(chan turn[T], 1)
	q.waiting = append(q.waiting, c)
	if q.growing != nil && len(q.waiting) == q.growing.missing {
		close(q.growing.full)
	}
	q.mu.Unlock()
	var t turn[T]
	select {
	case t = <-c.turn:
	case <-done:
		if q.leave(c) {
			return true
		}
		t = <-c.turn
	}
	if t.panicked != nil {
		panic(t.panicked)
	}
	if t.lead != nil {
		q.lead(t.lead)
	}
	return false
}

// leave removes a call from the calls that wait for a batch. The result is false for a call that must run its
// batch: the other callers of the batch wait for it.
func (q *Queue[T]) leave(c *call[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, c); i >= 0 {
		// The list is copied, because running batches share the array of the old one.
		q.waiting = slices.Concat(q.waiting[:i], q.waiting[i+1:])
	}
	return !c.leads
}

// CountWaiting counts the calls whose batch has not started.
func (q *Queue[T]) CountWaiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// mayStart reports whether a batch of n items may start now: true if no batch waits for further
// items, the pause after the last batch is over, and a worker is free; false otherwise.
func (q *Queue[T]) mayStart(n int) bool {
	many := n >= q.Threshold
	rested := q.resting == 0 || n >= q.demand || many
	return q.growing == nil && rested && (q.running == 0 || q.running < q.Workers && many)
}

func (q *Queue[T]) take(n int) []*call[T] {
	n = min(n, len(q.waiting))
	taken := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return taken
}

func (q *Queue[T]) start(batch []*call[T]) {
	q.running++
	if missing := q.Limit - len(batch); missing > 0 && q.Linger > 0 {
		q.growing = &growth{missing: missing, full: make(chan struct{})}
		batch[0].grows = q.growing
	}
}

func (q *Queue[T]) startNext() {
	if len(q.waiting) == 0 || !q.mayStart(len(q.waiting)) {
		return
	}
	batch := q.take(q.Limit)
	q.start(batch)
	batch[0].leads = true
	batch[0].turn <- turn[T]{lead: batch}
}

func (q *Queue[T]) lead(batch []*call[T]) {
	batch = q.grow(batch)
	items := make([]T, len(batch))
	for i, c := range batch {
		items[i] = c.item
	}
	var outcome turn[T]
	outcome.panicked = errUnfinished
	began := time.Now() //nolint:forbidigo // measures the batch, and decides about no data
	defer func() {
		recovered := recover()
		if recovered != nil {
			outcome.panicked = recovered
		}
		q.finish(len(batch), time.Since(began)) //nolint:forbidigo // as above
		for _, c := range batch[1:] {
			c.turn <- outcome
		}
		if recovered != nil {
			panic(recovered)
		}
	}()
	q.Run(items)
	outcome.panicked = nil
}

// finish frees the worker of a batch of n calls that has run, begins the pause after the batch, and starts the
// next batch if it may start.
func (q *Queue[T]) finish(n int, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	if rest := min(took, q.Rest); rest > 0 && (n > 1 || len(q.waiting) > 0) {
		q.resting++
		q.demand = n + len(q.waiting)
		time.AfterFunc(rest, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.resting--
			q.startNext()
		})
	}
	q.startNext()
}

// grow waits until further calls have joined a batch, or the time for that is over, and returns the larger
// batch.
func (q *Queue[T]) grow(batch []*call[T]) []*call[T] {
	g := batch[0].grows
	if g == nil {
		return batch
	}
	linger(q.Linger, g.full)
	q.mu.Lock()
	defer q.mu.Unlock()
	batch = append(batch, q.take(g.missing)...)
	q.growing = nil
	q.startNext() // More calls may wait than fitted into the batch: start the next.
	return batch
}

func linger(span time.Duration, full <-chan struct{}) {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-full:
	case <-timer.C:
	}
}
