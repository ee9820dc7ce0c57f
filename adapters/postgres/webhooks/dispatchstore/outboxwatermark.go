package dispatchstore

import (
	"sync"
	"time"
)

// outboxWatermark is the low watermark of the outbox: a position below which there is no row and will be none. A
// scan that starts there misses nothing, so the events of a deposit are found in their order, and it reads few
// index entries of rows that were consumed.
//
// The rows below a position are final when every transaction has ended that may have drawn one of these positions.
// A transaction has its transaction id before it draws a position, so the transaction ids in a later snapshot of
// the database show that. The watermark then rises to the first row that still exists.
type outboxWatermark struct {
	mu  sync.Mutex
	low int64
	// The time at which a relay last began at the beginning of the outbox. Such a relay is a safety net, as in
	// watermarks.
	full  time.Time
	asked time.Time // The time of the last query whether the outbox has rows that began at its beginning.
	// The number of connections that the pool had made. A new connection may lead to a server that was restored or
	// promoted.
	conns int64
	drawn int64 // The last position in the outbox that transactions had drawn before an earlier query.

	// The low watermark becomes mark once all transactions below the transaction id xid have ended; 0 means no mark.
	mark int64
	xid  int64
}

// outboxView is the result of a query of the outbox from a position on.
type outboxView struct {
	from int64
	// The last position in the outbox that was drawn, as read before the query's snapshot; 0 if unknown.
	drawn int64
	first int64 // The position of the first row that the query of the outbox found; below 0 if there is none.
	last  int64 // The last position in the outbox that was drawn, as read after the query's snapshot.
	// The bounds of the query's snapshot: transactions below xmin had ended, and none from xmax on had begun.
	xmin, xmax int64
}

// look begins a query of the outbox and returns from which position it starts. conns is the number of connections
// that the pool has made.
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

// saw raises the low watermark of the outbox by the result of a query of the outbox.
func (w *outboxWatermark) saw(v outboxView) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.last < w.drawn { // A lower position means that the database is another server, or has another history.
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
		// Transactions that begin after the query's snapshot draw only positions above v.drawn.
		w.mark, w.xid = v.drawn+1, v.xmax
	}
	w.drawn = v.last
}

// lowest returns a position of the outbox below which there is no row.
func (w *outboxWatermark) lowest() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low
}

// ask returns the position in the outbox from which to query whether it has rows.
func (w *outboxWatermark) ask() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.asked) >= fullEvery {
		w.asked = now
		return 0
	}
	return w.low
}

// answered stores whether a query of the outbox found rows: if it found some below the watermark, the next relay
// starts at the beginning of the outbox.
func (w *outboxWatermark) answered(from int64, pending bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pending && from < w.low {
		w.full = time.Time{}
	}
}

func (w *outboxWatermark) forget() { w.low, w.drawn, w.mark = 0, 0, 0 }
