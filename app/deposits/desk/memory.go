package desk

import (
	"sync"
	"time"
)

// The most keys in a memory, which bounds it to tens of megabytes.
const maxRemembered = 50_000

// memory caches counts in this process, because counting again would read many rows.
type memory[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]remembered[V]
}

type remembered[V any] struct {
	value V
	until time.Time // The end of a cached value's validity; zero for none.
}

func (m *memory[K, V]) get(key K, now time.Time) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known := m.kept[key]
	if !known || !r.until.IsZero() && !now.Before(r.until) {
		return value, false
	}
	return r.value, true
}

func (m *memory[K, V]) put(key K, value V, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= maxRemembered {
		m.kept = map[K]remembered[V]{}
	}
	m.kept[key] = remembered[V]{value, until}
}
