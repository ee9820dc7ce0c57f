package middleware

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// The states of a client connection. A connection is idle while it waits for the first byte of a request.
const (
	connActive int32 = iota
	connIdle
	connEnded
)

// clientConn is a client connection that records whether a byte has arrived, whether it is idle, and which responses
// are not sent yet. Only the goroutine that serves the connection reads and writes.
type clientConn struct {
	net.Conn
	of    *limitedListener
	heard bool
	state atomic.Int32
	since time.Time // The time at which the connection became idle.
	// Neighbours in the list of idle connections; nil while the connection is not in that list.
	before, after *clientConn

	// Callback that counts the requests in flight, kept while a request is being answered; nil otherwise.
	inFlight func(change int)
	unsent   []unsent
	// Memory for the first unsent response, so that a connection without pipelined requests allocates none.
	first [1]unsent
}

// unsent is what metrics count about a response (an Observation), kept until the response is written to the
// connection.
type unsent struct {
	observation RequestObservation
	observe     func(RequestObservation)
}

// Read reads from the connection and marks it active. If the connection was already closed as idle, Read returns
// net.ErrClosed: the request is not processed, so its caller may repeat it.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.state.Load() != connActive && !c.wake() {
		return 0, net.ErrClosed
	}
	c.heard = c.heard || n > 0
	return n, err
}

// Close closes the connection and removes it from the listener's count of open connections.
func (c *clientConn) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.forget(c)
	return err
}

// wake marks an idle connection active. It returns false if the connection has been closed in the meantime, and
// true otherwise.
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

// noteState is the ConnState callback of fasthttp: it counts finished requests and marks connections idle or
// active. fasthttp calls a new connection active before its first byte has arrived.
func noteState(nc net.Conn, state fasthttp.ConnState) {
	c, ours := nc.(*clientConn)
	switch {
	case !ours:
	case state == fasthttp.StateClosed:
		// The caller has closed the connection; responses that it did not receive are counted in the metrics now.
		c.observeUnsent()
		c.end()
	case state == fasthttp.StateIdle:
		c.end()
		c.of.mu.Lock()
		c.of.rest(c)
		c.of.mu.Unlock()
	// Mark the connection active here: a pipelined request was read together with the one before, so no Read did.
	case state == fasthttp.StateActive && c.heard && c.state.Load() == connIdle:
		c.wake()
	}
}

// Write observes the pending responses, so that metrics count them before the caller can see them, and writes to
// the connection.
func (c *clientConn) Write(p []byte) (int, error) {
	c.observeUnsent()
	return c.Conn.Write(p)
}

// SetWriteBuffer limits how many bytes the operating system buffers for a caller that reads slowly.
func (c *clientConn) SetWriteBuffer(bytes int) error {
	if sized, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return sized.SetWriteBuffer(bytes)
	}
	return nil
}

// observeSent passes an observation to observe, which may be nil, once the response is written to the connection
// of ctx. A request that hangs after its handler has finished is therefore not counted as answered.
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
	observe(o) // In tests without the server's listener, responses are observed at once.
}

// begin adds a request to the count of requests in flight.
func (c *clientConn) begin(inFlight func(change int)) {
	if inFlight != nil {
		inFlight(1)
		c.inFlight = inFlight
	}
}

// end removes a request from the count of requests in flight: its response is sent, or waits to be sent with those
// of later pipelined requests, or the connection is closed.
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
