package dispatchstore

import (
	"sync"
	"time"
)

// fullEvery is the time between two scans of a backlog from the start of its index. Other scans start at the
// low watermark, the oldest row found before, since dead entries of consumed rows are slow to read.
const fullEvery = 2 * time.Second

// watermarks holds, for each backlog, the row at which its next scan starts.
type watermarks[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]watermark[V]
}

type watermark[V any] struct {
	low  V
	full time.Time // When the waiting rows were last scanned from the start of their index.
}

// start returns the row at which the next scan of a backlog starts; the zero value means the start of the
// index.
func (w *watermarks[K, V]) start(k K) (low V) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	m, known := w.byKey[k]
	if known && now.Sub(m.full) < fullEvery {
		return m.low
	}
	if w.byKey == nil {
		w.byKey = map[K]watermark[V]{}
	}
	w.byKey[k] = watermark[V]{full: now}
	return low
}

// set stores the lowest row that a scan of a backlog found; found is false if it found none.
func (w *watermarks[K, V]) set(k K, lowest V, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !found {
		delete(w.byKey, k)
		return
	}
	m := w.byKey[k]
	m.low = lowest
	w.byKey[k] = m
}
