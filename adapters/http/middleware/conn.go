package middleware

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// The states of a connection. It is idle while it waits for the first byte of a request.
const (
	connActive int32 = iota
	connIdle
	connEnded
)

// conn records of a connection whether a byte has arrived, whether it is idle, and which answers are not sent yet. Only
// the goroutine that serves the connection reads and writes.
type conn struct {
	net.Conn
	of            *listener
	heard         bool
	state         atomic.Int32
	since         time.Time // of its idle time
	before, after *conn     // in the ring of idle connections; nil: not in it

	inFlight func(change int) // of the request that is being answered; nil: none is
	unsent   []unsent
	first    [1]unsent // backs unsent, so that a request without pipelining allocates nothing
}

// unsent is an answer that has not gone to the connection yet.
type unsent struct {
	observation Observation
	observe     func(Observation)
}

// Read implements net.Conn. A request whose connection was ended as idle is not read, so its caller may repeat it.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.state.Load() != connActive && !c.wake() {
		return 0, net.ErrClosed
	}
	c.heard = c.heard || n > 0
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.forget(c)
	return err
}

// wake ends the idle time; false: the connection has been ended.
func (c *conn) wake() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.state.Load() == connEnded {
		return false
	}
	c.of.leave(c)
	c.state.Store(connActive)
	return true
}

// noteState implements fasthttp.Server.ConnState. A new connection is active for fasthttp before its first byte.
func noteState(nc net.Conn, state fasthttp.ConnState) {
	c, ours := nc.(*conn)
	switch {
	case !ours:
	case state == fasthttp.StateClosed:
		c.observeUnsent() // the caller has gone
		c.end()
	case state == fasthttp.StateIdle:
		c.end()
		c.of.mu.Lock()
		c.of.rest(c)
		c.of.mu.Unlock()
	case state == fasthttp.StateActive && c.heard && c.state.Load() == connIdle: // a request that was read with the last
		c.wake()
	}
}

// Write implements net.Conn. It observes the answers before the caller can see them.
func (c *conn) Write(p []byte) (int, error) {
	c.observeUnsent()
	return c.Conn.Write(p)
}

// SetWriteBuffer bounds what the system keeps for a caller that reads slowly, in bytes.
func (c *conn) SetWriteBuffer(bytes int) error {
	if sized, ok := c.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return sized.SetWriteBuffer(bytes)
	}
	return nil
}

// observeSent passes o to observe, which may be nil, once the answer goes to the connection of ctx. A request that
// hangs after its handler's work is so counted as answered by nobody.
func observeSent(ctx *fasthttp.RequestCtx, o Observation, observe func(Observation)) {
	if observe == nil {
		return
	}
	if c, ok := ctx.Conn().(*conn); ok {
		if c.unsent == nil {
			c.unsent = c.first[:0]
		}
		c.unsent = append(c.unsent, unsent{o, observe})
		return
	}
	observe(o) // a test without a listener
}

// begin counts a request into those in flight.
func (c *conn) begin(inFlight func(change int)) {
	if inFlight != nil {
		inFlight(1)
		c.inFlight = inFlight
	}
}

// end counts the request out of those in flight: its answer is sent, or waits for the answers of pipelined requests, or
// the connection is closed.
func (c *conn) end() {
	if c.inFlight != nil {
		c.inFlight(-1)
		c.inFlight = nil
	}
}

func (c *conn) observeUnsent() {
	for _, u := range c.unsent {
		u.observe(u.observation)
	}
	c.unsent = c.unsent[:0]
}
