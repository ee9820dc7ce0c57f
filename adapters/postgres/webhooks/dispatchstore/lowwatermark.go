package dispatchstore

import (
	"sync"
	"time"
)

// fullEvery is the time between two scans of waiting rows (a backlog, such as due deliveries) from the start of
// their index.
//
// A backlog is consumed from the old end of its index. Until the next vacuum, a scan from that end reads the dead
// entries of all rows that were consumed before: with a million of them, that takes longer than consuming the
// rows. So a scan starts at the low watermark, the oldest row that the previous scan found. Rows below the
// watermark (written late, or released) wait for the next full scan.
const fullEvery = 2 * time.Second

// watermarks holds the low watermark of each backlog (rows that wait to be processed): the row at which the next
// scan of the backlog starts.
type watermarks[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]watermark[V]
}

type watermark[V any] struct {
	low  V
	full time.Time // The time of the last scan of the waiting rows from the start of their index.
}

// start returns the row at which the next scan of a backlog (rows that wait to be processed) starts. The zero
// value means the start of the index.
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

// set stores the lowest row that a scan of a backlog (rows that wait to be processed) found. found is false when
// the scan found no row, so that nothing waits.
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
