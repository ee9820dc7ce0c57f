// Package middleware holds what every request goes through, whatever it is for. The order in which server.go puts it
// together, and why:
//
//	RequestID        first, so that every log line and answer can name the request
//	AccessLog        outside of all that may fail, so that it sees the final status
//	Recover          inside the log: a panic is an answer like others
//	SecurityHeaders  before anything answers
//	Deadline         the handler's time begins
//	Framing          refuses bodies that must not be read: compressed, too large, of doubtful length
//
// and for the partner API, behind authentication and rate limit (api.md §1, "Order of checks"):
//
//	JSON             reads the body once into plain values, for idempotency, validator and handler
package middleware

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/fault"
)

// Limits of the server.
const (
	MaxBody       = 64 << 10         // bytes of a request body (api.md §1)
	DeadlineAfter = 10 * time.Second // for a handler; fiber does not notice a caller that went away

	readTimeout  = 10 * time.Second // for a whole request: half a request must not hold a connection for ever
	writeTimeout = 30 * time.Second
	idleTimeout  = 60 * time.Second
	readBuffer   = 16 << 10 // bytes of headers
	// Bodies up to hardBody are read to their end before they are refused, so that the caller gets to read the answer
	// and the connection lives on; beyond that the connection is closed.
	hardBody = 256 << 10
)

// ServerConfig is what differs between installations.
type ServerConfig struct {
	ErrorHandler fiber.ErrorHandler // problem.Handler

	// TrustedProxies are the addresses (or CIDR ranges) whose X-Real-IP is believed. A proxy must overwrite that header.
	TrustedProxies []string
}

// FiberConfig is the configuration of the one fiber app, with the traps of its defaults closed.
func FiberConfig(cfg ServerConfig) fiber.Config {
	c := fiber.Config{
		ErrorHandler:            cfg.ErrorHandler,
		Immutable:               true, // else values of one request show up in another
		CaseSensitive:           true,
		DisableStartupMessage:   true,
		BodyLimit:               hardBody,
		ReadBufferSize:          readBuffer,
		ReadTimeout:             readTimeout,
		WriteTimeout:            writeTimeout,
		IdleTimeout:             idleTimeout,
		JSONEncoder:             encodeJSON,
		EnableTrustedProxyCheck: true,
		TrustedProxies:          cfg.TrustedProxies,
		EnableIPValidation:      true,
	}
	if len(cfg.TrustedProxies) > 0 {
		c.ProxyHeader = "X-Real-Ip"
	}
	return c
}

// encodeJSON leaves <, > and & as they are: what came in goes out.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// Harden closes what fiber answers by itself, outside of any middleware: unknown methods, which it answers in plain
// text, and requests that cannot be parsed, whose bytes fasthttp quotes in its errors. observe may be nil.
// Call it once, after New and before Listen.
func Harden(app *fiber.App, observe func(Observation)) {
	known := map[string]bool{}
	for _, m := range app.Config().RequestMethods {
		known[m] = true
	}
	server := app.Server()
	server.SecureErrorLogMessage = true
	server.NoDefaultServerHeader = true

	handle, fail := server.Handler, server.ErrorHandler
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		if known[string(ctx.Method())] {
			handle(ctx)
			return
		}
		c := app.AcquireCtx(ctx)
		defer app.ReleaseCtx(c)
		_ = app.Config().ErrorHandler(c, fault.ErrMethod) // problem.Handler returns no error
		observeUnrouted(ctx, observe)
	}
	server.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		if errors.Is(err, fasthttp.ErrBodyTooLarge) {
			drain(ctx.Conn())
		}
		fail(ctx, err)
		observeUnrouted(ctx, observe)
	}
}

// drain reads on, within bounds, what the caller is still sending: closing a connection with unread bytes resets it, and
// the caller would see that instead of the answer.
func drain(conn net.Conn) {
	const (
		most = 16 << 20
		idle = 100 * time.Millisecond
		long = 2 * time.Second
	)
	buffer := make([]byte, 32<<10)
	for read, end := 0, time.Now().Add(long); read < most && time.Now().Before(end); {
		if conn.SetReadDeadline(time.Now().Add(idle)) != nil {
			return
		}
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		read += n
	}
}

func observeUnrouted(ctx *fasthttp.RequestCtx, observe func(Observation)) {
	if observe != nil {
		observe(Observation{Surface: SurfaceOther, Route: UnmatchedRoute, Method: otherMethod, Status: ctx.Response.StatusCode()})
	}
}

// RequestID gives the request its id (problem.RequestID).
func RequestID() fiber.Handler {
	return func(c *fiber.Ctx) error {
		problem.RequestID(c)
		return c.Next()
	}
}
