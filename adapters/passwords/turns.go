package passwords

import (
	"context"
	"errors"
	"slices"
	"sync"

	"partnerdeposits/core/fault"
	accountports "partnerdeposits/ports/accounts"
)

// Limits on log-ins that wait for their password to be hashed. A log-in above a limit is refused at once.
const (
	maxWaiting   = 1024 // The most log-ins that wait in one queue.
	maxOfNetwork = 16
)

var errLineFull = errors.New("passwords: too many callers wait for a slot")

// turns hands out the slots for hashing passwords to waiting log-ins: known networks first, and within each
// queue the networks take turns.
type turns struct {
	mu               sync.Mutex
	free             int
	known, strangers line
}

// line is a queue of log-ins that wait for a password hash, grouped by network.
type line struct {
	waiting  int
	callers  map[string][]*caller
	networks []string // The networks with waiting log-ins, in the order of their turns.
}

// caller is a log-in that waits for a password hash; its turn has come when the channel turn is closed.
type caller struct {
	line    *line
	network string
	turn    chan struct{}
}

// acquire waits for a slot for hashing a password. The returned function passes the slot on. Returns
// service_unavailable when ctx ends first or too many log-ins wait.
func (t *turns) acquire(ctx context.Context, who accountports.PasswordCaller) (release func(), err error) {
	c := t.enter(who)
	if c == nil {
		return nil, fault.ErrUnavailable.WithCause(errLineFull)
	}
	select {
	case <-c.turn:
		return t.release, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// A log-in that got its slot for hashing just as its context ended uses the slot.
	if !c.line.remove(c) {
		return t.release, nil
	}
	return nil, fault.ErrUnavailable.WithCause(ctx.Err())
}

// enter grants the log-in a free slot for hashing or appends it to its queue; nil if the queue is full.
func (t *turns) enter(who accountports.PasswordCaller) *caller {
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

// next takes the first log-in of the network whose turn it is; nil if the queue is empty.
func (l *line) next() *caller {
	if l.waiting == 0 {
		return nil
	}
	network := l.networks[0]
	c := l.callers[network][0]
	l.remove(c)
	if len(l.callers[network]) > 0 { // A network with further waiting log-ins moves to the end of the queue.
		l.networks = append(l.networks[1:], network)
	}
	return c
}

// remove takes a log-in out of the queue; false if it had got its slot for hashing already.
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
