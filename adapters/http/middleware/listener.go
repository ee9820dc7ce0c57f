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

// reservedDescriptors is the number of file descriptors kept free of public connections, for Postgres, Redis,
// operations endpoints, the payment provider and files.
const reservedDescriptors = 256

// mostConnections returns how many public connections fit below the process's limit of file descriptors, which may
// change.
func mostConnections() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return fasthttp.DefaultConcurrency
	}
	// fasthttp would not serve connections above its default concurrency.
	descriptors := min(limit.Cur, fasthttp.DefaultConcurrency)
	return int(descriptors - min(reservedDescriptors, descriptors/2))
}

// idleFor is how long a connection stays idle at least before it may be closed for another: its next request may
// be on its way.
const idleFor = time.Second

// LimitConnections wraps ln for the public server: Accept survives failures of the system (see RetryAccept), and
// at most mostConnections are open. A further one closes the longest idle one, or waits. failed is called on
// failures and waits.
func LimitConnections(ln net.Listener, failed func(error)) net.Listener {
	return newListener(ln, failed, mostConnections, idleFor)
}

func newListener(ln net.Listener, failed func(error), most func() int, idleFor time.Duration) *limitedListener {
	l := &limitedListener{failed: failed, most: most, idleFor: idleFor}
	l.changed, l.closed = make(chan struct{}, 1), make(chan struct{})
	l.idle.before, l.idle.after = &l.idle, &l.idle
	l.Listener = RetryAccept(ln, func(err error) {
		failed(err)
		// The limit of file descriptors may have been lowered by more than one.
		for l.endIdlest() <= 0 && l.full() {
		}
	})
	return l
}

type limitedListener struct {
	net.Listener
	failed  func(error)
	most    func() int
	idleFor time.Duration
	// Channel that receives a value when a connection was closed or became idle, so that a waiting Accept goes on.
	changed chan struct{}
	closed  chan struct{}
	closing sync.Once

	mu   sync.Mutex
	open int
	// Head of the circular list of idle connections, longest idle first.
	idle clientConn
}

// Accept returns the next client connection, once the limit of open connections allows it.
func (l *limitedListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.awaitRoom() {
		_ = accepted.Close()
		return nil, net.ErrClosed
	}
	c := &clientConn{Conn: accepted, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	l.rest(c)
	return c, nil
}

// Close closes the listener and ends waiting calls of Accept.
func (l *limitedListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// awaitRoom waits until one more connection may be open; false if the listener has been closed. Meanwhile
// connections wait in the system's queue.
func (l *limitedListener) awaitRoom() bool {
	for l.full() {
		next := l.endIdlest()
		if next <= 0 {
			continue
		}
		l.failed(sockets.ErrAllConnectionsInUse)
		select {
		case <-l.closed:
			return false
		case <-l.changed:
		case <-time.After(next):
		}
	}
	return true
}

func (l *limitedListener) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open >= l.most()
}

// endIdlest closes the longest idle connection and returns 0 or less; if none may be closed yet, the time to wait
// before the next try.
func (l *limitedListener) endIdlest() (next time.Duration) {
	l.mu.Lock()
	idlest := l.idle.after
	if idlest == &l.idle {
		// No connection is idle; try soon, since the limit of file descriptors may be raised.
		next = longestWait
	} else if next = l.idleFor - time.Since(idlest.since); next <= 0 {
		l.forget(idlest)
	}
	l.mu.Unlock()
	if next <= 0 {
		_ = idlest.Conn.Close()
	}
	return next
}

func (l *limitedListener) rest(c *clientConn) {
	if !c.state.CompareAndSwap(connActive, connIdle) {
		return
	}
	c.since = time.Now()
	c.before, c.after = l.idle.before, &l.idle
	c.before.after, l.idle.before = c, c
	l.signal()
}

// leave removes a connection from the idle list, because a request has arrived or it is closed.
func (l *limitedListener) leave(c *clientConn) {
	if c.after == nil {
		return
	}
	c.before.after, c.after.before = c.after, c.before
	c.before, c.after = nil, nil
}

// forget removes a connection from the listener's count, so that another may be accepted.
func (l *limitedListener) forget(c *clientConn) {
	if c.state.Swap(connEnded) == connEnded {
		return
	}
	l.leave(c)
	l.open--
	l.signal()
}

func (l *limitedListener) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Shortest and longest pause before Accept tries again after a failure of the system.
const (
	shortestWait = 5 * time.Millisecond
	longestWait  = time.Second
)

// RetryAccept wraps a listener so that Accept survives failures, such as a lack of file descriptors: it calls
// failed, waits, and tries again. fasthttp would stop serving for good.
func RetryAccept(ln net.Listener, failed func(error)) net.Listener {
	return &retryingListener{Listener: ln, failed: failed, closed: make(chan struct{})}
}

type retryingListener struct {
	net.Listener
	failed  func(error)
	closed  chan struct{}
	closing sync.Once
}

// Accept returns the next connection, trying again after failures of the system.
func (p *retryingListener) Accept() (net.Conn, error) {
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

func (p *retryingListener) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return p.Listener.Close()
}
