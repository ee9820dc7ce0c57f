package passwords

import (
	"context"
	"errors"
	"slices"
	"sync"

	"partnerdeposits/core/fault"
	accountports "partnerdeposits/ports/accounts"
)

// The most log-ins that wait to have their password hashed. One more is refused at once.
const (
	maxWaiting   = 1024 // of one line: known or unknown networks
	maxOfNetwork = 16
)

var errLineFull = errors.New("passwords: too many callers wait for a slot")

// turns gives free slots to callers: first to those of known networks, then to the others. Within a line the networks
// take turns, so that a network with many callers holds nobody else up.
type turns struct {
	mu               sync.Mutex
	free             int
	known, strangers line
}

// line holds callers by their networks.
type line struct {
	waiting  int
	callers  map[string][]*caller
	networks []string // with callers, in the order of their turns
}

// caller waits until its turn is closed.
type caller struct {
	line    *line
	network string
	turn    chan struct{}
}

// acquire waits for a slot; release gives it to the next caller.
//
// Returns service_unavailable when ctx ends first, and at once where too many wait.
func (t *turns) acquire(ctx context.Context, who accountports.Turn) (release func(), err error) {
	c := t.enter(who)
	if c == nil {
		return nil, fault.ErrUnavailable.Because(errLineFull)
	}
	select {
	case <-c.turn:
		return t.release, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !c.line.remove(c) { // its turn came at this very moment
		return t.release, nil
	}
	return nil, fault.ErrUnavailable.Because(ctx.Err())
}

// enter gives the caller its turn if a slot is free, else a place in its line; nil where there is no place.
func (t *turns) enter(who accountports.Turn) *caller {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &caller{line: &t.strangers, network: who.Network, turn: make(chan struct{})}
	if who.Known {
		c.line = &t.known
	}
	switch {
	case t.free > 0:
		t.free--
		close(c.turn)
	case !c.line.add(c):
		return nil
	}
	return c
}

func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.known.next()
	if next == nil {
		next = t.strangers.next()
	}
	if next == nil {
		t.free++
		return
	}
	close(next.turn)
}

func (l *line) add(c *caller) bool {
	before := l.callers[c.network]
	if l.waiting >= maxWaiting || len(before) >= maxOfNetwork {
		return false
	}
	if l.callers == nil {
		l.callers = map[string][]*caller{}
	}
	if len(before) == 0 {
		l.networks = append(l.networks, c.network)
	}
	l.callers[c.network] = append(before, c)
	l.waiting++
	return true
}

// next takes the first caller of the network whose turn it is; nil for none.
func (l *line) next() *caller {
	if l.waiting == 0 {
		return nil
	}
	network := l.networks[0]
	c := l.callers[network][0]
	l.remove(c)
	if len(l.callers[network]) > 0 { // to the end of the line
		l.networks = append(l.networks[1:], network)
	}
	return c
}

// remove reports whether the caller was still waiting.
func (l *line) remove(c *caller) bool {
	rest := l.callers[c.network]
	at := slices.Index(rest, c)
	if at < 0 {
		return false
	}
	l.waiting--
	if rest = slices.Delete(rest, at, at+1); len(rest) > 0 {
		l.callers[c.network] = rest
		return true
	}
	delete(l.callers, c.network)
	at = slices.Index(l.networks, c.network)
	l.networks = slices.Delete(l.networks, at, at+1)
	return true
}
