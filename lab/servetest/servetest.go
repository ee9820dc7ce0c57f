// Package servetest serves a fiber app on a real socket, and sends raw bytes as hostile clients do.
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

// patience bounds a test's wait for a server's answer.
const patience = 15 * time.Second

// ServeApp runs a fiber app on a free loopback port until the test ends, and returns its host:port.
func ServeApp(t testing.TB, app *fiber.App) string {
	t.Helper()
	addr, serve := Listen(t)
	serve(app)
	return addr
}

// Listen opens a free loopback port for an app that must know its address (host:port) beforehand. serve then runs
// the app.
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

type Answer struct {
	Status int
	Header http.Header
	Body   string
	// Whether the server closes the connection after the response.
	Closed bool
}

type Conn struct {
	// A reader of the server's data that Receive has not read yet.
	Reader *bufio.Reader

	t    testing.TB
	conn net.Conn
}

// Dial opens a TCP connection to a server, which is closed when the test ends.
func Dial(t testing.TB, addr string) *Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = conn.Close() })
	return &Conn{t: t, conn: conn, Reader: bufio.NewReader(conn)}
}

func (c *Conn) Send(raw string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, raw)
	require.NoError(c.t, err)
}

func (c *Conn) Receive(method string) Answer {
	c.t.Helper()
	res, err := http.ReadResponse(c.Reader, &http.Request{Method: method})
	require.NoError(c.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: string(body), Closed: res.Close}
}

// AwaitClosed waits until the server has closed the connection. Anything sent instead fails the test.
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
