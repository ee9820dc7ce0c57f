package middleware

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"partnerdeposits/ports/platform/sockets"
)

// reservedDescriptors are for everything but the connections of the public: the pools of Postgres and Redis, operators,
// the payment provider and files.
const reservedDescriptors = 256

// mostConnections is how many connections of the public fit below the limit of descriptors, which may change.
func mostConnections() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return fasthttp.DefaultConcurrency
	}
	descriptors := min(limit.Cur, fasthttp.DefaultConcurrency) // fasthttp serves no more
	return int(descriptors - min(reservedDescriptors, descriptors/2))
}

// idleFor is how long a connection waits for a request, at least, before it may be ended for another. The request may
// be on its way.
const idleFor = time.Second

// Listener returns ln with an Accept that outlasts failures (Patient), and with as many connections as mostConnections
// allows: a further one ends the one that has been idle longest, or waits while none is idle. Harden knows these
// connections: one on which nothing was sent ends without an answer. failed is told of failures and waits.
func Listener(ln net.Listener, failed func(error)) net.Listener {
	return newListener(ln, failed, mostConnections, idleFor)
}

func newListener(ln net.Listener, failed func(error), most func() int, idleFor time.Duration) *listener {
	l := &listener{failed: failed, most: most, idleFor: idleFor}
	l.changed, l.closed = make(chan struct{}, 1), make(chan struct{})
	l.idle.before, l.idle.after = &l.idle, &l.idle
	l.Listener = Patient(ln, func(err error) {
		failed(err)
		for l.endIdlest() <= 0 && l.full() { // the limit may have been lowered
		}
	})
	return l
}

// listener counts the connections of the public.
type listener struct {
	net.Listener
	failed  func(error)
	most    func() int
	idleFor time.Duration
	changed chan struct{} // receives when a connection has ended or become idle
	closed  chan struct{}
	closing sync.Once

	mu   sync.Mutex
	open int
	idle conn // begin and end of the ring of idle connections: the one that has been idle longest comes first
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.awaitRoom() {
		_ = accepted.Close()
		return nil, net.ErrClosed
	}
	c := &conn{Conn: accepted, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	l.rest(c)
	return c, nil
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// awaitRoom returns when a connection more may be open; false: the listener has been closed. Meanwhile the next
// connections wait in the system's queue.
func (l *listener) awaitRoom() bool {
	for l.full() {
		next := l.endIdlest()
		if next <= 0 {
			continue
		}
		l.failed(sockets.ErrAllInUse)
		select {
		case <-l.closed:
			return false
		case <-l.changed:
		case <-time.After(next):
		}
	}
	return true
}

func (l *listener) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open >= l.most()
}

// endIdlest ends the connection that has been idle longest. next is when to look again, if none may be ended yet.
func (l *listener) endIdlest() (next time.Duration) {
	l.mu.Lock()
	idlest := l.idle.after
	if idlest == &l.idle {
		next = longestWait // the limit may be raised meanwhile
	} else if next = l.idleFor - time.Since(idlest.since); next <= 0 {
		l.forget(idlest)
	}
	l.mu.Unlock()
	if next <= 0 {
		_ = idlest.Conn.Close()
	}
	return next
}

// rest puts a connection at the end of the ring.
func (l *listener) rest(c *conn) {
	if !c.state.CompareAndSwap(connActive, connIdle) {
		return
	}
	c.since = time.Now()
	c.before, c.after = l.idle.before, &l.idle
	c.before.after, l.idle.before = c, c
	l.signal()
}

// leave takes a connection out of the ring.
func (l *listener) leave(c *conn) {
	if c.after == nil {
		return
	}
	c.before.after, c.after.before = c.after, c.before
	c.before, c.after = nil, nil
}

// forget makes room for another connection.
func (l *listener) forget(c *conn) {
	if c.state.Swap(connEnded) == connEnded {
		return
	}
	l.leave(c)
	l.open--
	l.signal()
}

func (l *listener) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// The pauses of Patient after a failure.
const (
	shortestWait = 5 * time.Millisecond
	longestWait  = time.Second
)

// Patient returns ln with an Accept that outlasts failures of the system, such as a lack of descriptors: it tells
// failed, waits, and goes on. fasthttp would end for good.
func Patient(ln net.Listener, failed func(error)) net.Listener {
	return &patient{Listener: ln, failed: failed, closed: make(chan struct{})}
}

type patient struct {
	net.Listener
	failed  func(error)
	closed  chan struct{}
	closing sync.Once
}

// Accept implements net.Listener.
func (p *patient) Accept() (net.Conn, error) {
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		c, err := p.Listener.Accept()
		var system syscall.Errno
		if !errors.As(err, &system) {
			return c, err
		}
		p.failed(err)
		select {
		case <-p.closed:
			return nil, net.ErrClosed
		case <-time.After(wait):
		}
	}
}

// Close implements net.Listener.
func (p *patient) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return p.Listener.Close()
}
