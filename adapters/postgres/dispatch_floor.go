package postgres

import (
	"sync"
	"time"
)

// A backlog is taken from the old end of its index, and until a vacuum has been there every look from that end wades
// through all that was taken before: at a million, longer than the taking. So a look begins where the last one found
// something, and from the very start only every fullEvery, for what was left behind, written late, or given back.
const fullEvery = 2 * time.Second

// floors remembers where to begin, for each backlog.
type floors[K comparable, V any] struct {
	mu sync.Mutex
	of map[K]floor[V]
}

type floor[V any] struct {
	from V
	full time.Time // the last look from the start
}

// begin tells where to begin now; the zero value: at the start.
func (f *floors[K, V]) begin(k K) (from V) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	e, known := f.of[k]
	if known && now.Sub(e.full) < fullEvery {
		return e.from
	}
	if f.of == nil {
		f.of = map[K]floor[V]{}
	}
	f.of[k] = floor[V]{full: now}
	return from
}

// found notes the lowest of what a look took; nothing was taken: there is no backlog to remember.
func (f *floors[K, V]) found(k K, lowest V, taken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !taken {
		delete(f.of, k)
		return
	}
	e := f.of[k]
	e.from = lowest
	f.of[k] = e
}
