package middleware_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/servetest"
)

// chunked is a request whose body is sent in chunks; body ends the message.
func chunked(body string, headers ...string) string {
	return request("POST", "/api/echo/1", append(headers, jsonType, "Transfer-Encoding: chunked")...) + body
}

// A proxy in front may read each of these bytes otherwise than this server does. So the server refuses the request and
// reads nothing more from the connection.
func TestDoubtfulRequest_IsRefusedAndEndsTheConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const empty = "0\r\n\r\n"
	cases := map[string]string{
		"transfer encoding behind a vertical tab": request("POST", "/api/echo/1", jsonType,
			"Transfer-Encoding: \x0bchunked") + empty,
		"transfer encoding before a form feed": request("POST", "/api/echo/1", jsonType,
			"Transfer-Encoding: chunked\x0c") + empty,
		"transfer encoding before a next line": request("POST", "/api/echo/1", jsonType,
			"Transfer-Encoding: chunked\u0085") + empty,
		"transfer encoding behind a no-break space": request("POST", "/api/echo/1", jsonType,
			"Transfer-Encoding: \u00a0chunked") + empty,
		"transfer encoding of HTTP/1.0": "POST /api/echo/1 HTTP/1.0\r\nHost: x\r\n" + jsonType +
			"\r\nTransfer-Encoding: chunked\r\n\r\n" + empty,
		"line feed in a chunk extension":       chunked("2;a\n{}\r\n" + empty),
		"line feed behind a chunk size":        chunked("2\n{}\r\n" + empty),
		"carriage return in a chunk extension": chunked("2;a\rb\r\n{}\r\n" + empty),
		"API key in a trailer":                 chunked("2\r\n{}\r\n0\r\nx-api-key: svc_pk_test_topsecret\r\n\r\n"),
		"announced trailer": chunked("2\r\n{}\r\n0\r\nx-api-key: svc_pk_test_topsecret\r\n\r\n",
			"Trailer: x-api-key"),
		"trailer beside a header of its name": chunked("2\r\n{}\r\n0\r\nidempotency-key: a\r\n\r\n", "Idempotency-Key: b"),
		"content type in a trailer":           chunked("2\r\n{}\r\n0\r\ncontent-type: text/html\r\n\r\n"),
		"cookie in a trailer":                 chunked("2\r\n{}\r\n0\r\ncookie: session=a\r\n\r\n"),
		"two hosts":                           request("GET", "/api/echo/1", "Host: y"),
		"two equal hosts":                     request("GET", "/api/echo/1", "host: x"),
		"folded header":                       request("GET", "/api/echo/1", "Foo: a\r\n b"),
		"folded header with a tab":            request("GET", "/api/echo/1", "Foo:\r\n\tb"),
		"folded first line":                   "GET /api/echo/1 HTTP/1.1\r\n Foo: a\r\nHost: x\r\n\r\n",
		"API key in a folded line":            request("GET", "/api/echo/1", "x-api-key:\r\n svc_pk_test_topsecret"),
		"transfer encoding in a folded line": request("POST", "/api/echo/1", jsonType, "Content-Length: 2",
			"X: a\r\n Transfer-Encoding: chunked") + "{}",
		"folded line of blanks":                 request("GET", "/api/echo/1", "Foo: a\r\n  "),
		"NUL in a value":                        request("GET", "/api/echo/1", "Foo: a\x00b"),
		"carriage return in a value":            request("GET", "/api/echo/1", "Foo: a\rb"),
		"carriage return at the end of a value": request("GET", "/api/echo/1", "Foo: a\r"),
		"NUL in a trailer":                      chunked("2\r\n{}\r\n0\r\nfoo: a\x00b\r\n\r\n"),
		"NUL in the path":                       request("GET", "/api/echo/\x00"),
		"HTTP/0.9":                              "GET /api/echo/1 HTTP/0.9\r\nHost: x\r\n\r\n",
		"HTTP/1.2":                              "GET /api/echo/1 HTTP/1.2\r\nHost: x\r\n\r\n",
		"HTTP/2.0":                              "GET /api/echo/1 HTTP/2.0\r\nHost: x\r\n\r\n",
		"HTTP/3.7":                              "GET /api/echo/1 HTTP/3.7\r\nHost: x\r\n\r\n",
		"HTTP/1.10":                             "GET /api/echo/1 HTTP/1.10\r\nHost: x\r\n\r\n",
		"http/1.1":                              "GET /api/echo/1 http/1.1\r\nHost: x\r\n\r\n",
		"no version":                            "GET /api/echo/1\r\nHost: x\r\n\r\n",
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servetest.Dial(t, b.addr)
			c.Send(raw + request("GET", "/api/echo/smuggled"))
			a := c.Receive("POST")
			requireEnvelope(t, a, 400, "invalid_field")
			require.True(t, a.Closed)
			require.NotContains(t, a.Body, "topsecret")
			c.AwaitClosed()
		})
	}
}

func TestDoubtfulLength_ClosesTheConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := servetest.Dial(t, b.addr)
	c.Send(request("POST", "/api/echo/1", jsonType, "Content-Length: 4", "Transfer-Encoding: chunked") + "0\r\n\r\n" +
		request("GET", "/api/echo/smuggled"))
	a := c.Receive("POST")
	requireEnvelope(t, a, 400, "invalid_field")
	require.True(t, a.Closed)
	c.AwaitClosed()
}

func TestContentLengthThatLies_IsEnvelopedAndEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *fiber.Config) { c.ReadTimeout = 100 * time.Millisecond })

	short := servetest.Dial(t, b.addr) // announces more than it sends
	short.Send(request("POST", "/api/echo/1", jsonType, "Content-Length: 50") + `{}`)
	requireEnvelope(t, short.Receive("POST"), 400, "invalid_field")
	short.AwaitClosed()

	long := servetest.Dial(t, b.addr) // sends more than it announces
	long.Send(request("POST", "/api/echo/1", jsonType, "Content-Length: 2") + `{}` + strings.Repeat("a", 100<<10) +
		"\r\n\r\n")
	require.Equal(t, `{}`, long.Receive("POST").Body)
	require.GreaterOrEqual(t, long.Receive("POST").Status, 400)
	long.AwaitClosed()

	huge := servetest.Dial(t, b.addr) // refused by its Content-Length alone
	huge.Send(request("POST", "/api/echo/1", jsonType, "Content-Length: 10000000000"))
	requireEnvelope(t, huge.Receive("POST"), 413, "payload_too_large")
}

// White space that HTTP allows around values, chunk sizes and extensions stays allowed.
func TestOrdinaryFraming_IsRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := map[string]string{
		"blanks around the encoding": request("POST", "/api/echo/1", jsonType, "Transfer-Encoding: \t chunked \t") +
			"2\r\n{}\r\n0\r\n\r\n",
		"encoding in capitals": request("POST", "/api/echo/1", jsonType, "TRANSFER-ENCODING: Chunked") +
			"2\r\n{}\r\n0\r\n\r\n",
		"chunk extension": chunked("2;a=b\r\n{}\r\n0\r\n\r\n"),
		"two chunks":      chunked("1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
		"tab in a value":  post("{}", jsonType, "Foo: a\tb"),
		"HTTP/1.0":        "POST /api/echo/1 HTTP/1.0\r\nContent-Length: 2\r\n" + jsonType + "\r\n\r\n{}",
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := servetest.SendRawRequest(t, b.addr, raw)
			require.Equal(t, 200, a.Status, a.Body)
			require.Equal(t, "{}", a.Body)
		})
	}
}

// A browser opens connections ahead of need, and would take an answer that it finds there for the answer to its next
// request.
func TestConnectionOnWhichNothingWasSent_IsClosedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *fiber.Config) { c.ReadTimeout = 50 * time.Millisecond })
	silent := servetest.Dial(t, b.addr)
	sent, err := io.ReadAll(silent.Reader)
	require.NoError(t, err)
	require.Empty(t, string(sent))

	half := servetest.Dial(t, b.addr)
	half.Send("GET /api/echo/1 HT")
	requireEnvelope(t, half.Receive("GET"), 400, "invalid_field")
	half.AwaitClosed()

	require.Eventually(t, func() bool { return len(b.seen()) > 0 }, 5*time.Second, time.Millisecond)
	require.Len(t, b.seen(), 1, "a connection without a request is no request")
}

// While a process drains, a balancer may still choose it. Each answer then ends its connection, so that no later
// request is on the way when the listener closes.
func TestDraining_EveryAnswerEndsItsConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := servetest.Dial(t, b.addr)
	c.Send(request("GET", "/api/echo/1"))
	require.False(t, c.Receive("GET").Closed)
	b.draining.Store(true)
	for _, raw := range []string{request("GET", "/api/echo/1"), request("GET", "/api/nothing"), request("PURGE", "/")} {
		c.Send(raw)
		require.True(t, c.Receive("GET").Closed, "the connection was opened before")
		c.AwaitClosed()
		c = servetest.Dial(t, b.addr)
	}
}
