package dispatchstore

import (
	"sync"
	"time"
)

// fullEvery is the time between two scans of a backlog from the start of its index.
//
// A backlog is consumed from the old end of its index. Until the next vacuum, a scan from that end reads the dead
// entries of all rows that were consumed before: with a million of them, longer than the consumption takes. So a scan
// starts at the low watermark, the oldest row that the scan before found. Rows below the watermark (written late, or
// released) wait for the next full scan.
const fullEvery = 2 * time.Second

// watermarks holds the low watermark of each backlog.
type watermarks[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]watermark[V]
}

type watermark[V any] struct {
	low  V
	full time.Time // the last full scan
}

// start returns where the next scan starts. The zero value stands for the start of the index.
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

// set stores the lowest row that a scan found. found is false when the scan found none: there is no backlog.
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
