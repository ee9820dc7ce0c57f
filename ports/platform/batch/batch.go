// Package batch lets concurrent callers share work that would cost each caller a round trip: a transaction, a
// query or a command serves a batch of callers.
package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Queue forms batches of the items that are passed to Do under the same key. Set the fields before the first call of
// Do.
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

	mu     sync.Mutex
	states map[string]*keyState[T]
}

// errUnfinished is the value with which the callers of a batch panic if the goroutine that ran it ended by
// runtime.Goexit.
var errUnfinished = errors.New("batch: the goroutine that ran the batch ended before it")

// keyState holds the batches that run or form under one key, and the calls that wait for them.
type keyState[T any] struct {
	running int
	resting int
	demand  int // The number of calls that ran in the last batch or waited behind it when the pause after it began.
	waiting []*call[T]
	growing *growth // The batch of this key that is growing; nil: none.
}

// growth is a batch that waits for further items before it runs. Two batches of a key never grow at the same
// time, because they would divide the items of a large batch.
type growth struct {
	missing int
	full    chan struct{}
}

// call is a call of Queue.Do that waits for its batch.
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

// AddAndWait adds an item to a batch of a key, and returns when that batch has run. If the batch panics, every caller
// with an item in it panics.
func (q *Queue[T]) AddAndWait(key string, item T) { q.do(nil, key, item) }

// AddAndWaitContext does what AddAndWait does, but returns the error of ctx if ctx ends while the item waits or
// another caller runs its batch, which may still use the item.
func (q *Queue[T]) AddAndWaitContext(ctx context.Context, key string, item T) error {
	if left := q.do(ctx.Done(), key, item); left {
		return ctx.Err()
	}
	return nil
}

func (q *Queue[T]) do(done <-chan struct{}, key string, item T) (left bool) {
	c := &call[T]{item: item}
	q.mu.Lock()
	s := q.state(key)
	if s.mayStart(q, len(s.waiting)+1) {
		batch := append([]*call[T]{c}, s.take(q.Limit-1)...)
		s.start(q, batch)
		q.mu.Unlock()
		q.lead(key, s, batch)
		return false
	}
	c.turn = make(chan turn[T], 1)
	s.waiting = append(s.waiting, c)
	if s.growing != nil && len(s.waiting) == s.growing.missing {
		close(s.growing.full)
	}
	q.mu.Unlock()
	var t turn[T]
	select {
	case t = <-c.turn:
	case <-done:
		if q.leave(s, c) {
			return true
		}
		t = <-c.turn
	}
	if t.panicked != nil {
		panic(t.panicked)
	}
	if t.lead != nil {
		q.lead(key, s, t.lead)
	}
	return false
}

// leave removes a call from the calls that wait for a batch. The result is false for a call that must run its
// batch: the other callers of the batch wait for it.
func (q *Queue[T]) leave(s *keyState[T], c *call[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(s.waiting, c); i >= 0 {
		// The list is copied, because running batches share the array of the old one.
		s.waiting = slices.Concat(s.waiting[:i], s.waiting[i+1:])
	}
	return !c.leads
}

// CountWaiting counts the calls of a key whose batch has not started.
func (q *Queue[T]) CountWaiting(key string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.states[key]; s != nil {
		return len(s.waiting)
	}
	return 0
}

func (q *Queue[T]) state(key string) *keyState[T] {
	s := q.states[key]
	if s == nil {
		if q.states == nil {
			q.states = map[string]*keyState[T]{}
		}
		s = &keyState[T]{}
		q.states[key] = s
	}
	return s
}

// mayStart reports whether a batch of n items may start now: true if no batch of the key waits for further
// items, the pause after the last batch is over, and a worker is free; false otherwise.
func (s *keyState[T]) mayStart(q *Queue[T], n int) bool {
	many := n >= q.Threshold
	rested := s.resting == 0 || n >= s.demand || many
	return s.growing == nil && rested && (s.running == 0 || s.running < q.Workers && many)
}

func (s *keyState[T]) take(n int) []*call[T] {
	n = min(n, len(s.waiting))
	taken := s.waiting[:n:n]
	s.waiting = s.waiting[n:]
	return taken
}

func (s *keyState[T]) start(q *Queue[T], batch []*call[T]) {
	s.running++
	if missing := q.Limit - len(batch); missing > 0 && q.Linger > 0 {
		s.growing = &growth{missing: missing, full: make(chan struct{})}
		batch[0].grows = s.growing
	}
}

func (s *keyState[T]) startNext(q *Queue[T]) {
	if len(s.waiting) == 0 || !s.mayStart(q, len(s.waiting)) {
		return
	}
	batch := s.take(q.Limit)
	s.start(q, batch)
	batch[0].leads = true
	batch[0].turn <- turn[T]{lead: batch}
}

func (q *Queue[T]) lead(key string, s *keyState[T], batch []*call[T]) {
	batch = q.grow(s, batch)
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
		q.finish(key, s, len(batch), time.Since(began)) //nolint:forbidigo // as above
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
func (q *Queue[T]) finish(key string, s *keyState[T], n int, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.running--
	if rest := min(took, q.Rest); rest > 0 && (n > 1 || len(s.waiting) > 0) {
		s.resting++
		s.demand = n + len(s.waiting)
		time.AfterFunc(rest, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			s.resting--
			q.goOn(key, s)
		})
	}
	q.goOn(key, s)
}

// goOn starts a batch of the waiting calls if one may start, and deletes the state of a key that has no batches
// and no calls.
func (q *Queue[T]) goOn(key string, s *keyState[T]) {
	s.startNext(q)
	if s.running == 0 && s.resting == 0 {
		delete(q.states, key)
	}
}

// grow waits until further calls have joined a batch, or the time for that is over, and returns the larger
// batch.
func (q *Queue[T]) grow(s *keyState[T], batch []*call[T]) []*call[T] {
	g := batch[0].grows
	if g == nil {
		return batch
	}
	linger(q.Linger, g.full)
	q.mu.Lock()
	defer q.mu.Unlock()
	batch = append(batch, s.take(g.missing)...)
	s.growing = nil
	s.startNext(q) // More calls may wait than fitted into the batch: start the next.
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
