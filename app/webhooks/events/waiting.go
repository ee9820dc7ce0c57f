package events

import (
	"context"
	"slices"
	"sync"
	"time"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// Bounds of the requests that wait. A request beyond the bound of the process is answered at once. One beyond the bound
// of its partner ends the wait of the partner's oldest, which may have been abandoned.
const (
	maxWaiting      = 4096 // in a process; each holds a connection and some 30 kB
	maxWaitingOfOne = 16   // of a partner, in a process
	lookEvery       = time.Second
	lookWithin      = 3 * time.Second
)

// Waiting holds the requests of a process that wait for events, or for the end of a test delivery. A request that waits
// holds no connection to the database.
type Waiting struct {
	mu        sync.Mutex
	byPartner map[id.ID]*crowd
	total     int
	entered   chan struct{}
	drained   chan struct{}
	drain     sync.Once
}

// crowd is the requests of a partner that wait.
type crowd struct {
	places []*place      // the oldest first
	rung   chan struct{} // closed by the next ring
	last   int64         // the last number that one of the requests knows
}

// NewWaiting holds no request.
func NewWaiting() *Waiting {
	return &Waiting{byPartner: map[id.ID]*crowd{}, entered: make(chan struct{}, 1), drained: make(chan struct{})}
}

// Entered receives after a request began to wait.
func (w *Waiting) Entered() <-chan struct{} { return w.entered }

// Ring wakes the requests of the partners.
func (w *Waiting) Ring(partners []id.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range partners {
		if c := w.byPartner[p]; c != nil {
			close(c.rung)
			c.rung = make(chan struct{})
		}
	}
}

// Drain answers all requests that wait, and lets no further request wait.
func (w *Waiting) Drain() { w.drain.Do(func() { close(w.drained) }) }

// Watch looks once a second for events of all partners that wait, with a single query, until ctx ends: a ring may be
// lost.
func (w *Waiting) Watch(ctx context.Context, feeds webhookports.Events) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		w.look(ctx, feeds)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// look rings for partners whose feeds went on. An error changes nothing: the next look follows.
func (w *Waiting) look(ctx context.Context, feeds webhookports.Events) {
	known := w.known()
	if len(known) == 0 {
		return
	}
	partners := make([]id.ID, 0, len(known))
	for p := range known {
		partners = append(partners, p)
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	last, err := feeds.LastNumbers(ctx, partners)
	if err != nil {
		return
	}
	var ahead []id.ID
	for p, n := range last {
		if n > known[p] {
			ahead = append(ahead, p)
		}
	}
	w.Ring(ahead)
}

// known gives the partners that wait, with the last number that they know.
func (w *Waiting) known() map[id.ID]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := make(map[id.ID]int64, len(w.byPartner))
	for p, c := range w.byPartner {
		known[p] = c.last
	}
	return known
}

// place is the place of a request among those that wait.
type place struct {
	waiting *Waiting
	partner id.ID
	taken   chan struct{} // closed where a newer request has taken the place
}

// enter gives a request a place; ok is false where no further request may wait.
func (w *Waiting) enter(partner id.ID) (p *place, ok bool) {
	select {
	case <-w.drained:
		return nil, false
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.byPartner[partner]
	switch {
	case c != nil && len(c.places) >= maxWaitingOfOne:
		close(c.places[0].taken)
		w.remove(c.places[0])
	case w.total >= maxWaiting:
		return nil, false
	case c == nil:
		c = &crowd{rung: make(chan struct{})}
		w.byPartner[partner] = c
	}
	p = &place{w, partner, make(chan struct{})}
	c.places = append(c.places, p)
	w.total++
	select {
	case w.entered <- struct{}{}:
	default: // the receiver has not taken the last signal, which stands for this one, too
	}
	return p, true
}

// Hear has a request hear the rings for its partner until leave. rung gives the channel that the next ring closes, or
// nil where no further request may wait.
func (w *Waiting) Hear(partner id.ID) (rung func() <-chan struct{}, leave func()) {
	p, ok := w.enter(partner)
	if !ok {
		return func() <-chan struct{} { return nil }, func() {}
	}
	return p.rung, p.leave
}

// remove lets a request wait no longer. It changes nothing for one whose place was taken.
func (w *Waiting) remove(p *place) {
	c := w.byPartner[p.partner]
	if c == nil {
		return
	}
	at := slices.Index(c.places, p)
	if at < 0 {
		return
	}
	c.places = slices.Delete(c.places, at, at+1)
	w.total--
	if len(c.places) == 0 {
		delete(w.byPartner, p.partner)
	}
}

// rung is closed by the next ring. It never is where the place was taken and the partner has no request that waits.
func (p *place) rung() <-chan struct{} {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	if c := p.waiting.byPartner[p.partner]; c != nil {
		return c.rung
	}
	return nil
}

// knows notes the last number that the request has seen.
func (p *place) knows(last int64) {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	if c := p.waiting.byPartner[p.partner]; c != nil {
		c.last = max(c.last, last)
	}
}

func (p *place) leave() {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	p.waiting.remove(p)
}

// Size is the number of requests that wait.
func (w *Waiting) Size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}
