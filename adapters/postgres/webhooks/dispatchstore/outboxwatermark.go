package dispatchstore

import (
	"sync"
	"time"
)

// outboxWatermark is a position in the outbox below which there is no row and will be none. It rises once every
// transaction has ended that may have drawn a lower position, by the transaction ids in a later snapshot.
type outboxWatermark struct {
	mu  sync.Mutex
	low int64
	// When the outbox was last scanned from its beginning, a safety net against a wrong watermark.
	full time.Time
	// When the outbox was last checked from its beginning for any row.
	asked time.Time
	// The connections that the pool had made by the last scan. A new one may lead to a restored server, so the
	// watermark is forgotten.
	conns int64
	// The last position in the outbox that was drawn before the previous query.
	drawn int64

	// The next low watermark, and the transaction id below which all must have ended before it is valid; 0 means
	// none.
	mark int64
	xid  int64
}

// outboxView is the result of a query of the outbox from a position on.
type outboxView struct {
	from int64
	// The last position in the outbox that was drawn before the query's snapshot; 0 if unknown.
	drawn int64
	// The position of the first event that the query found in the outbox; negative if none.
	first int64
	// The last position in the outbox that was drawn after the query's snapshot.
	last int64
	// The bounds of the query's snapshot: transactions below xmin had ended, and none from xmax on had begun.
	xmin, xmax int64
}

// look begins a query of the outbox and returns its start position. conns is the number of connections that the
// pool has made.
func (w *outboxWatermark) look(conns int64) outboxView {
	w.mu.Lock()
	defer w.mu.Unlock()
	if conns != w.conns {
		w.forget()
		w.conns = conns
	}
	v := outboxView{from: w.low, drawn: w.drawn}
	if now := time.Now(); now.Sub(w.full) >= fullEvery {
		v.from, w.full = 0, now
	}
	return v
}

// saw raises the low watermark of the outbox by the result of a query.
func (w *outboxWatermark) saw(v outboxView) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A lower last position means another server or a restored one, so the watermark is forgotten.
	if v.last < w.drawn {
		w.forget()
	}
	if v.first >= 0 && v.first < w.low {
		w.low = v.first
	}
	if w.mark > 0 && v.xmin >= w.xid {
		if v.first >= 0 {
			w.mark = min(w.mark, v.first)
		}
		w.low, w.mark = max(w.low, w.mark), 0
	}
	if w.mark == 0 && v.drawn > 0 {
		// The next watermark is valid once the running transactions have ended: later ones draw only positions above
		// v.drawn.
		w.mark, w.xid = v.drawn+1, v.xmax
	}
	w.drawn = v.last
}

// lowest returns a position in the outbox below which there is no event.
func (w *outboxWatermark) lowest() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low
}

// ask returns the position from which a query should check whether the outbox has any event.
func (w *outboxWatermark) ask() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.asked) >= fullEvery {
		w.asked = now
		return 0
	}
	return w.low
}

// answered stores whether a query found events in the outbox. Events below the watermark make the next scan
// start at the beginning.
func (w *outboxWatermark) answered(from int64, pending bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pending && from < w.low {
		w.full = time.Time{}
	}
}

func (w *outboxWatermark) forget() { w.low, w.drawn, w.mark = 0, 0, 0 }
