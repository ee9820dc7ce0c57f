package events

import (
	"context"
	"slices"
	"sync"
	"time"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// Bounds of the requests that wait for events. A request beyond the bound of its partner ends the wait of the
// partner's oldest request, whose client may be gone.
const (
	maxWaiting      = 4096 // How many requests may wait in a process; each holds a connection and some 30 kB.
	maxWaitingOfOne = 16   // How many requests of a partner may wait in a process.
	lookEvery       = time.Second
	lookWithin      = 3 * time.Second
)

// WaitingRequests holds the requests of a process that wait for events, or for the end of a test delivery. A request
// that waits holds no connection to the database.
type WaitingRequests struct {
	mu        sync.Mutex
	byPartner map[id.ID]*partnerRequests
	total     int
	entered   chan struct{}
	drained   chan struct{}
	drain     sync.Once
}

type partnerRequests struct {
	places []*place
	rung   chan struct{} // A channel that is closed to wake the partner's waiting requests.
	last   int64
}

func NewWaitingRequests() *WaitingRequests {
	return &WaitingRequests{byPartner: map[id.ID]*partnerRequests{}, entered: make(chan struct{}, 1),
		drained: make(chan struct{})}
}

// WaitStartedSignal returns a channel that receives after a request began to wait for events.
func (w *WaitingRequests) WaitStartedSignal() <-chan struct{} { return w.entered }

// WakePartners wakes the requests of the partners that wait for events.
func (w *WaitingRequests) WakePartners(partners []id.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range partners {
		if c := w.byPartner[p]; c != nil {
			close(c.rung)
			c.rung = make(chan struct{})
		}
	}
}

func (w *WaitingRequests) Drain() { w.drain.Do(func() { close(w.drained) }) }

// WatchFeeds queries once a second, until ctx ends, whether partners whose requests wait have new events, since a
// wake-up notification may be lost.
func (w *WaitingRequests) WatchFeeds(ctx context.Context, feeds webhookports.EventStore) error {
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

func (w *WaitingRequests) look(ctx context.Context, feeds webhookports.EventStore) {
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
	last, err := feeds.LastFeedNumbers(ctx, partners)
	if err != nil {
		return
	}
	var ahead []id.ID
	for p, n := range last {
		if n > known[p] {
			ahead = append(ahead, p)
		}
	}
	w.WakePartners(ahead)
}

func (w *WaitingRequests) known() map[id.ID]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := make(map[id.ID]int64, len(w.byPartner))
	for p, c := range w.byPartner {
		known[p] = c.last
	}
	return known
}

type place struct {
	waiting *WaitingRequests
	partner id.ID
	taken   chan struct{}
}

// enter adds a request to those that wait for events; ok reports whether it may wait.
func (w *WaitingRequests) enter(partner id.ID) (p *place, ok bool) {
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
		c = &partnerRequests{rung: make(chan struct{})}
		w.byPartner[partner] = c
	}
	p = &place{w, partner, make(chan struct{})}
	c.places = append(c.places, p)
	w.total++
	select {
	case w.entered <- struct{}{}:
	default:
	}
	return p, true
}

// Add adds a request to those that wait for events, until leave is called. rung returns the channel whose closing
// wakes the request; nil: no further request may wait.
func (w *WaitingRequests) Add(partner id.ID) (rung func() <-chan struct{}, leave func()) {
	p, ok := w.enter(partner)
	if !ok {
		return func() <-chan struct{} { return nil }, func() {}
	}
	return p.rung, p.leave
}

// remove removes a request from those that wait for events.
func (w *WaitingRequests) remove(p *place) {
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

// rung returns the channel whose closing wakes the waiting request. The channel is nil if a newer request has
// replaced this one and the partner has no other request that waits.
func (p *place) rung() <-chan struct{} {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	if c := p.waiting.byPartner[p.partner]; c != nil {
		return c.rung
	}
	return nil
}

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

func (w *WaitingRequests) Size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}
