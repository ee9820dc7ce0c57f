package middleware

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// The states of a client connection; idle means waiting for the first byte of a request.
const (
	connActive int32 = iota
	connIdle
	connEnded
)

// clientConn is a client connection that records whether it is idle and which responses are not sent yet. Only the
// goroutine that serves it reads and writes.
type clientConn struct {
	net.Conn
	of    *limitedListener
	heard bool
	state atomic.Int32
	since time.Time
	// Neighbours in the list of idle connections; nil outside it.
	before, after *clientConn

	// Callback that counts requests in flight, while one is being answered; nil otherwise.
	inFlight func(change int)
	unsent   []unsent
	// Memory for one unsent response, so that connections without pipelining allocate none.
	first [1]unsent
}

// unsent is what metrics count about a response (a RequestObservation), kept until it is written to the
// connection.
type unsent struct {
	observation RequestObservation
	observe     func(RequestObservation)
}

// Read reads from the connection and marks it active. If it was already closed as idle, Read returns
// net.ErrClosed: the request is not processed, so it may be repeated.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.state.Load() != connActive && !c.wake() {
		return 0, net.ErrClosed
	}
	c.heard = c.heard || n > 0
	return n, err
}

func (c *clientConn) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.forget(c)
	return err
}

// wake marks an idle connection active, or returns false if it has been closed in the meantime.
func (c *clientConn) wake() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.state.Load() == connEnded {
		return false
	}
	c.of.leave(c)
	c.state.Store(connActive)
	return true
}

// noteState is fasthttp's ConnState callback: it counts finished requests and marks connections idle or active.
// fasthttp calls a new connection active before its first byte.
func noteState(nc net.Conn, state fasthttp.ConnState) {
	c, ours := nc.(*clientConn)
	switch {
	case !ours:
	case state == fasthttp.StateClosed:
		// The caller has closed the connection; count the responses it did not receive now.
		c.observeUnsent()
		c.end()
	case state == fasthttp.StateIdle:
		c.end()
		c.of.mu.Lock()
		c.of.rest(c)
		c.of.mu.Unlock()
	// A pipelined request was read with the one before, so no Read marked the connection active.
	case state == fasthttp.StateActive && c.heard && c.state.Load() == connIdle:
		c.wake()
	}
}

// Write observes the pending responses, so that metrics count them before the caller sees them, and writes to the
// connection.
func (c *clientConn) Write(p []byte) (int, error) {
	c.observeUnsent()
	return c.Conn.Write(p)
}

// SetWriteBuffer limits the bytes that the operating system buffers for a slow reader.
func (c *clientConn) SetWriteBuffer(bytes int) error {
	if sized, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return sized.SetWriteBuffer(bytes)
	}
	return nil
}

// observeSent passes an observation to observe, which may be nil, once the response is written. A request that
// hangs after its handler is not counted as answered.
func observeSent(ctx *fasthttp.RequestCtx, o RequestObservation, observe func(RequestObservation)) {
	if observe == nil {
		return
	}
	if c, ok := ctx.Conn().(*clientConn); ok {
		if c.unsent == nil {
			c.unsent = c.first[:0]
		}
		c.unsent = append(c.unsent, unsent{o, observe})
		return
	}
	observe(o) // Without the server's listener, as in tests, responses are observed at once.
}

func (c *clientConn) begin(inFlight func(change int)) {
	if inFlight != nil {
		inFlight(1)
		c.inFlight = inFlight
	}
}

// end removes a request from the count in flight: its response is sent or waits for pipelined ones, or the
// connection is closed.
func (c *clientConn) end() {
	if c.inFlight != nil {
		c.inFlight(-1)
		c.inFlight = nil
	}
}

func (c *clientConn) observeUnsent() {
	for _, u := range c.unsent {
		u.observe(u.observation)
	}
	c.unsent = c.unsent[:0]
}
