package dispatchstore

import (
	"sync"
	"time"
)

// outboxWatermark is the low watermark of the outbox (the table of new events): a position below which there is no
// row and will be none. A scan that starts there misses nothing, so the events of a deposit are found in their
// order, and it reads few index entries of rows that were consumed.
//
// The rows below a position are final when every transaction has ended that may have drawn one of these positions.
// A transaction has its transaction id before it draws a position, so the transaction ids in a later snapshot of
// the database show that. The watermark then rises to the first row that still exists.
type outboxWatermark struct {
	mu  sync.Mutex
	low int64
	// The time of the last scan of the outbox (the table of new events) from its beginning. Such scans are a safety
	// net in case the watermark is wrong.
	full time.Time
	// The time of the last query from the beginning of the outbox (the table of new events) that checked whether it
	// has any row.
	asked time.Time
	// The number of connections that the pool had made at the last scan. A new connection may lead to a server that
	// was restored or promoted, so the watermark is then forgotten.
	conns int64
	// The last position in the outbox (the table of new events) that transactions had drawn when the previous query
	// ran.
	drawn int64

	// The next value of the low watermark (the field mark), and the transaction id (xid) below which all transactions
	// must have ended before that value is valid. A mark of 0 means that there is no next value yet.
	mark int64
	xid  int64
}

// outboxView is the result of a query of the outbox (the table of new events) from a position on.
type outboxView struct {
	from int64
	// The last position in the outbox (the table of new events) that was drawn before the query's snapshot; 0 if it
	// is not known.
	drawn int64
	// The position of the first event that the query found in the outbox (the table of new events); negative if it
	// found none.
	first int64
	// The last position in the outbox (the table of new events) that was drawn after the query's snapshot.
	last int64
	// The bounds of the query's snapshot: transactions below xmin had ended, and none from xmax on had begun.
	xmin, xmax int64
}

// look begins a query of the outbox (the table of new events) and returns the position from which the query
// starts. conns is the number of connections that the pool has made.
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

// saw raises the low watermark of the outbox (the position below which it has no event) by the result of a query.
func (w *outboxWatermark) saw(v outboxView) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A lower last position means that the database is another server or was restored, so the watermark is forgotten.
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
		// The next watermark is valid once the transactions that are running now have ended: later ones draw only
		// positions above v.drawn.
		w.mark, w.xid = v.drawn+1, v.xmax
	}
	w.drawn = v.last
}

// lowest returns a position in the outbox (the table of new events) below which there is no event.
func (w *outboxWatermark) lowest() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low
}

// ask returns the position from which a query should check whether the outbox (the table of new events) has any
// event.
func (w *outboxWatermark) ask() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.asked) >= fullEvery {
		w.asked = now
		return 0
	}
	return w.low
}

// answered stores whether a query found events in the outbox (the table of new events). If it found some below the
// watermark, the next scan starts at the beginning of the outbox.
func (w *outboxWatermark) answered(from int64, pending bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pending && from < w.low {
		w.full = time.Time{}
	}
}

func (w *outboxWatermark) forget() { w.low, w.drawn, w.mark = 0, 0, 0 }
