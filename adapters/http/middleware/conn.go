package middleware

import (
	"net"

	"github.com/valyala/fasthttp"
)

// conn is a connection that knows whether a byte has arrived, and which of its answers are not sent. Only the goroutine
// that serves it calls its methods.
type conn struct {
	net.Conn
	heard    bool
	inFlight func(change int) // of the request that is being answered; nil: none is
	unsent   []unsent
}

// unsent is an answer that did not go to the connection yet.
type unsent struct {
	observation Observation
	observe     func(Observation)
}

// observeSent passes o to observe, which may be nil, once the answer goes to the connection of ctx. A request that
// hangs after its handler's work is so counted as answered by nobody.
func observeSent(ctx *fasthttp.RequestCtx, o Observation, observe func(Observation)) {
	if observe == nil {
		return
	}
	if c, ok := ctx.Conn().(*conn); ok {
		c.unsent = append(c.unsent, unsent{o, observe})
		return
	}
	observe(o) // a test without a listener
}

// begin notes that a request is being answered.
func (c *conn) begin(inFlight func(change int)) {
	if inFlight != nil {
		inFlight(1)
		c.inFlight = inFlight
	}
}

// end notes that the answer is sent, or that the connection is closed.
func (c *conn) end() {
	c.observeUnsent()
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

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.heard = c.heard || n > 0
	return n, err
}

// Write observes the answers before the caller can see them.
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
