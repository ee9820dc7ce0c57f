// Package gather lets callers who come at the same time do together what costs each a trip of its own: a transaction, a
// command. Nobody waits for company: who finds a place free goes at once; company gathers while all places are taken.
package gather

import "sync"

// Queue is a line for each key.
type Queue[T any] struct {
	Places int // crews under way at once, under one key
	Most   int // callers in a crew
	Crowd  int // how many have to wait before another place than the first is taken: large crews are cheap ones
	// Run does the work of a crew, in the goroutine of one of its callers.
	Run func(crew []T)

	mu    sync.Mutex
	lines map[string]*line[T]
}

type line[T any] struct {
	running int
	waiting []*caller[T]
}

type caller[T any] struct {
	item T
	turn chan []*caller[T] // a crew to lead, the caller first; nil: another has led
}

// Do returns when a crew with item has run. Whoever finds a place free leads; who has led hands the place on.
func (q *Queue[T]) Do(key string, item T) {
	q.mu.Lock()
	if q.lines == nil {
		q.lines = map[string]*line[T]{}
	}
	l := q.lines[key]
	if l == nil {
		l = &line[T]{}
		q.lines[key] = l
	}
	me := &caller[T]{item: item, turn: make(chan []*caller[T], 1)}
	if l.running == 0 || (l.running < q.Places && len(l.waiting)+1 >= q.Crowd) {
		l.running++
		crew := append([]*caller[T]{me}, l.waiting...)
		l.waiting = nil
		q.mu.Unlock()
		q.lead(key, l, crew)
		return
	}
	l.waiting = append(l.waiting, me)
	q.mu.Unlock()
	if crew := <-me.turn; crew != nil {
		q.lead(key, l, crew)
	}
}

func (q *Queue[T]) lead(key string, l *line[T], crew []*caller[T]) {
	items := make([]T, len(crew))
	for i, c := range crew {
		items[i] = c.item
	}
	defer func() { // also when Run panics, in the goroutine of its leader
		q.pass(key, l)
		for _, c := range crew[1:] {
			c.turn <- nil
		}
	}()
	q.Run(items)
}

// pass gives the place to the first of those that wait, who leads the others.
func (q *Queue[T]) pass(key string, l *line[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.waiting) == 0 || (l.running > 1 && len(l.waiting) < q.Crowd) {
		if l.running--; l.running == 0 {
			delete(q.lines, key)
		}
		return
	}
	n := min(len(l.waiting), q.Most)
	crew := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	crew[0].turn <- crew
}

// Waiting is how many callers wait in a line.
func (q *Queue[T]) Waiting(key string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[key]; l != nil {
		return len(l.waiting)
	}
	return 0
}
