// Package batch lets concurrent callers share work that would cost each caller a round trip: a transaction, a query or a
// command serves a batch of callers. Use cases and adapters both need this tool, like ports/failpoint.
//
// A caller that finds a free worker starts a batch at once and runs the batch in its own goroutine. Further calls wait only while
// all workers are busy; they form the next batch. Linger and Yield let a batch grow before it runs.
package batch

import (
	"errors"
	"runtime"
	"sync"
	"time"
)

// Queue forms batches of the items that are passed to Do under the same key. Set the fields before the first call of Do.
type Queue[T any] struct {
	Workers   int           // batches that may run at the same time, per key
	Limit     int           // items in a batch, at most
	Threshold int           // items that must wait before a second worker starts; a large batch costs less per item
	Linger    time.Duration // how long a batch waits for further items before it runs
	Yield     bool          // before a batch runs, goroutines that are ready to call Do may join it
	// Run works on a batch, in the goroutine of a caller of that batch. An item that is a pointer carries its result.
	Run func(batch []T)

	mu    sync.Mutex
	lines map[string]*line[T]
}

// errUnfinished is the panic of the callers whose batch ended by runtime.Goexit.
var errUnfinished = errors.New("batch: the goroutine that ran the batch ended before it")

// line is the state of a key.
type line[T any] struct {
	running int
	waiting []*call[T]
	growing *growth // nil: no batch of this key is growing
}

// growth is a batch that has a worker but does not run yet. Two batches of a key never grow at the same time,
// because they would divide the items of a large batch.
type growth struct {
	missing int           // items until the batch is full
	full    chan struct{} // closed when as many items wait
}

// call is a call of Do.
type call[T any] struct {
	item T
	turn chan turn[T]
}

// turn ends the wait of a call: the call is to lead a batch, or its batch has run.
type turn[T any] struct {
	lead     []*call[T] // the batch to lead, the call itself first; nil: the batch has run
	panicked any        // the panic of the batch
}

// Do returns when a batch with item has run. A panic of that batch is a panic of each of its callers.
func (q *Queue[T]) Do(key string, item T) {
	c := &call[T]{item: item}
	q.mu.Lock()
	l := q.line(key)
	if l.mayStart(q, len(l.waiting)+1) {
		batch := append([]*call[T]{c}, l.take(q.Limit-1)...)
		l.start(q, batch)
		q.mu.Unlock()
		q.lead(key, l, batch)
		return
	}
	c.turn = make(chan turn[T], 1)
	l.waiting = append(l.waiting, c)
	if l.growing != nil && len(l.waiting) == l.growing.missing {
		close(l.growing.full)
	}
	q.mu.Unlock()
	t := <-c.turn
	if t.panicked != nil {
		panic(t.panicked)
	}
	if t.lead != nil {
		q.lead(key, l, t.lead)
	}
}

// Waiting counts the calls under key whose batch has not started.
func (q *Queue[T]) Waiting(key string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[key]; l != nil {
		return len(l.waiting)
	}
	return 0
}

func (q *Queue[T]) line(key string) *line[T] {
	l := q.lines[key]
	if l == nil {
		if q.lines == nil {
			q.lines = map[string]*line[T]{}
		}
		l = &line[T]{}
		q.lines[key] = l
	}
	return l
}

// mayStart reports whether a batch of n items may start.
func (l *line[T]) mayStart(q *Queue[T], n int) bool {
	return l.growing == nil && (l.running == 0 || l.running < q.Workers && n >= q.Threshold)
}

// take removes up to n calls from those that wait, the oldest first.
func (l *line[T]) take(n int) []*call[T] {
	n = min(n, len(l.waiting))
	taken := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return taken
}

// start takes a worker for a batch, which its first caller leads.
func (l *line[T]) start(q *Queue[T], batch []*call[T]) {
	l.running++
	if missing := q.Limit - len(batch); missing > 0 && (q.Linger > 0 || q.Yield) {
		l.growing = &growth{missing: missing, full: make(chan struct{})}
	}
}

// startNext starts a batch of waiting calls if a worker is free.
func (l *line[T]) startNext(q *Queue[T]) {
	if len(l.waiting) == 0 || !l.mayStart(q, len(l.waiting)) {
		return
	}
	batch := l.take(q.Limit)
	l.start(q, batch)
	batch[0].turn <- turn[T]{lead: batch}
}

// lead runs a batch in the goroutine of its first caller.
func (q *Queue[T]) lead(key string, l *line[T], batch []*call[T]) {
	batch = q.grow(l, batch)
	items := make([]T, len(batch))
	for i, c := range batch {
		items[i] = c.item
	}
	var outcome turn[T]
	outcome.panicked = errUnfinished // until Run returns
	defer func() {
		recovered := recover()
		if recovered != nil {
			outcome.panicked = recovered
		}
		q.leave(key, l)
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

// leave frees the worker of a batch that has run.
func (q *Queue[T]) leave(key string, l *line[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.running--
	l.startNext(q)
	if l.running == 0 {
		delete(q.lines, key)
	}
}

// grow lets further items join a batch before it runs.
func (q *Queue[T]) grow(l *line[T], batch []*call[T]) []*call[T] {
	if len(batch) >= q.Limit || (q.Linger == 0 && !q.Yield) {
		return batch
	}
	q.mu.Lock()
	g := l.growing
	q.mu.Unlock()
	if q.Linger > 0 {
		linger(q.Linger, g.full)
	} else {
		q.yield(l, g.missing)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	batch = append(batch, l.take(g.missing)...)
	l.growing = nil
	l.startNext(q) // more items came than the batch may have
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

// yield lets other goroutines run until none of them adds an item, or the batch is full.
func (q *Queue[T]) yield(l *line[T], missing int) {
	for before := -1; ; {
		q.mu.Lock()
		n := len(l.waiting)
		q.mu.Unlock()
		if n == before || n >= missing {
			return
		}
		before = n
		runtime.Gosched()
	}
}
