package dispatchstore

import (
	"sync"
	"time"
)

// outboxWatermark is the low watermark of the outbox: a position below which no row is, and none will be. A scan that
// starts there misses nothing, so the events of a deposit are found in their order, and reads few entries of rows that
// were consumed.
//
// The rows below a position are settled when every transaction has ended that may have drawn one of these positions. A
// transaction has its xid before it draws a position, so the xids of a later snapshot tell. The watermark then rises to
// the first row that is still there.
type outboxWatermark struct {
	mu    sync.Mutex
	low   int64
	full  time.Time // the last relay from the beginning: a safety net, as in watermarks
	asked time.Time // the last question from the beginning
	conns int64     // connections that the pool had made: a new one may lead to a server that was restored or promoted
	drawn int64     // the last position that was drawn before some look

	mark int64 // low becomes mark when the transactions below xid have ended; 0: none
	xid  int64
}

// outboxView is a look at the outbox from a position on.
type outboxView struct {
	from       int64
	drawn      int64 // the last position that was drawn, read before the snapshot of the look; 0: unknown
	first      int64 // the position of the first row; below 0: there is none
	last       int64 // the last position that was drawn, read after the snapshot
	xmin, xmax int64 // of the snapshot: transactions below xmin have ended, and none from xmax on had begun
}

// look begins a look. conns is the number of connections that the pool has made.
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

// saw raises the watermark after a look.
func (w *outboxWatermark) saw(v outboxView) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.last < w.drawn { // another server, or another history of this one
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
		w.mark, w.xid = v.drawn+1, v.xmax // a transaction from v.xmax on draws positions above v.drawn
	}
	w.drawn = v.last
}

// lowest returns a position below which no row is.
func (w *outboxWatermark) lowest() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low
}

// ask returns the position from which a question starts whether the outbox has rows.
func (w *outboxWatermark) ask() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.asked) >= fullEvery {
		w.asked = now
		return 0
	}
	return w.low
}

// answered makes the next look start where the question has found rows.
func (w *outboxWatermark) answered(from int64, pending bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pending && from < w.low {
		w.full = time.Time{}
	}
}

func (w *outboxWatermark) forget() { w.low, w.drawn, w.mark = 0, 0, 0 }
