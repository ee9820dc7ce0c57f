// Package servetest serves a fiber app on a real socket, and sends raw bytes to it as hostile clients do.
package servetest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
)

// patience is the longest that a test waits for a server's answer.
const patience = 15 * time.Second

// ServeApp runs a fiber app on a free port of the loopback interface until the test ends, and returns its address,
// host:port.
func ServeApp(t testing.TB, app *fiber.App) string {
	t.Helper()
	addr, serve := Listen(t)
	serve(app)
	return addr
}

// Listen opens a free port of the loopback interface, for an app that must know its address (host:port)
// beforehand. The function serve then runs the app until the test ends.
func Listen(t testing.TB) (addr string, serve func(*fiber.App)) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return ln.Addr().String(), func(app *fiber.App) {
		done := make(chan error, 1)
		go func() { done <- app.Listener(middleware.LimitConnections(ln, func(err error) { t.Log(err) })) }()
		t.Cleanup(func() {
			require.NoError(t, app.ShutdownWithTimeout(patience))
			require.NoError(t, <-done)
		})
	}
}

// Answer is a server's response to raw bytes, with its body read.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	// true: the server closes the connection after the response; false: it stays open.
	Closed bool
}

// Conn is a TCP connection to a server under test.
type Conn struct {
	// A reader of the data that the server has sent and that Receive has not read yet.
	Reader *bufio.Reader

	t    testing.TB
	conn net.Conn
}

// Dial opens a TCP connection to a server under test. It is closed when the test ends.
func Dial(t testing.TB, addr string) *Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = conn.Close() })
	return &Conn{t: t, conn: conn, Reader: bufio.NewReader(conn)}
}

// Send writes raw bytes to the server under test.
func (c *Conn) Send(raw string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, raw)
	require.NoError(c.t, err)
}

// Receive reads the server's response to a request of the given method.
func (c *Conn) Receive(method string) Answer {
	c.t.Helper()
	res, err := http.ReadResponse(c.Reader, &http.Request{Method: method})
	require.NoError(c.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: string(body), Closed: res.Close}
}

// AwaitClosed waits until the server has closed the connection, and fails the test if it sends anything instead.
func (c *Conn) AwaitClosed() {
	c.t.Helper()
	_, err := c.Reader.ReadByte()
	require.Error(c.t, err)
}

// SendRawRequest sends a raw request on a new connection and returns the server's response.
func SendRawRequest(t testing.TB, addr, request string) Answer {
	t.Helper()
	c := Dial(t, addr)
	c.Send(request)
	return c.Receive(http.MethodPost)
}
