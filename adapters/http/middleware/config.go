// Package middleware holds the handlers that every HTTP request passes and the configuration of the fiber app.
// adapters/http/server.go fixes their order, with a reason for each place.
package middleware

import (
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/middleware/jsonresponse"
	"partnerdeposits/core/fault"
)

const (
	// Largest accepted request body in bytes (api.md §1).
	MaxBodyBytes = 64 << 10
	// Longest time of a handler; fiber does not notice that the caller has disconnected.
	HandlerTimeout = 10 * time.Second

	// Longest time for reading a request: half a request must not occupy a connection for ever.
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = 60 * time.Second
	// Largest accepted request head (request line and headers) in bytes.
	readBuffer = 16 << 10
	// hardBody is the largest refused request body in bytes that is read to its end, so that the caller receives the
	// response. A larger one closes the connection.
	hardBody = 256 << 10
)

type ServerConfig struct {
	ErrorHandler fiber.ErrorHandler // The function that turns errors into responses: problem.Handler.

	// Addresses or CIDR ranges of trusted proxies, which must overwrite X-Real-IP: the header counts only from these.
	TrustedProxies []string
}

// FiberConfig returns the fiber app's configuration, with safe values where fiber's defaults are not.
func FiberConfig(cfg ServerConfig) fiber.Config {
	c := fiber.Config{
		ErrorHandler: cfg.ErrorHandler,
		// Without Immutable, strings from a request change when fiber reuses its buffers.
		Immutable:               true,
		CaseSensitive:           true,
		DisableStartupMessage:   true,
		BodyLimit:               hardBody,
		ReadBufferSize:          readBuffer,
		ReadTimeout:             readTimeout,
		WriteTimeout:            writeTimeout,
		IdleTimeout:             idleTimeout,
		JSONEncoder:             jsonresponse.Encode,
		EnableTrustedProxyCheck: true,
		TrustedProxies:          cfg.TrustedProxies,
		EnableIPValidation:      true,
	}
	if len(cfg.TrustedProxies) > 0 {
		c.ProxyHeader = headerRealIP
	}
	return c
}

// ServerHooks holds functions that the HTTP server calls, such as for metrics. Each may be nil.
type ServerHooks struct {
	// Observe is called when a response is written to the connection.
	Observe func(RequestObservation)
	// InFlight is called with 1 when a request begins, and with -1 once its response is sent.
	InFlight func(change int)
	// Draining reports whether the process is about to stop, so that every response closes its connection.
	Draining func() bool

	// Uploads reports from a request's head whether its handler reads the body itself; nil: always false.
	Uploads func(*fasthttp.RequestHeader) bool
}

// HardenServer replaces responses that fiber and fasthttp send outside of middleware, such as errors that quote an
// unreadable request. Call it once, after fiber.New and before Listen.
func HardenServer(app *fiber.App, hooks ServerHooks) {
	known := map[string]bool{}
	for _, m := range app.Config().RequestMethods {
		known[m] = true
	}
	server := app.Server()
	server.SecureErrorLogMessage, server.NoDefaultServerHeader, server.CloseOnShutdown = true, true, true
	server.HeaderReceived = hooks.headReceived
	// A handler of uploads reads its body itself; readBody reads all others into memory.
	server.StreamRequestBody = true
	server.DisablePreParseMultipartForm = true
	server.ConnState = noteState

	var routes routeNames
	observe := func(ctx *fasthttp.RequestCtx, o RequestObservation) {
		o.Status = ctx.Response.StatusCode()
		observeSent(ctx, o, hooks.Observe)
	}
	handle, fail := server.Handler, server.ErrorHandler
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		if c, ok := ctx.Conn().(*clientConn); ok {
			c.begin(hooks.InFlight)
		}
		upload, err := readBody(ctx, hooks)
		if err != nil {
			server.ErrorHandler(ctx, err)
			ctx.SetConnectionClose()
			return
		}
		if upload != nil {
			defer func() {
				// After a body that was not read to its end, the next request cannot be found.
				if !upload.whole() {
					ctx.SetConnectionClose()
					drain(ctx.Conn(), forUpload)
				}
			}()
		}
		if known[string(ctx.Method())] {
			handle(ctx)
		} else {
			c := app.AcquireCtx(ctx)
			defer app.ReleaseCtx(c)
			// The error is ignored: problem.Handler never returns one.
			_ = app.Config().ErrorHandler(c, fault.ErrMethodNotAllowed)
			observe(ctx, RequestObservation{Surface: SurfaceOther, Route: UnmatchedRouteLabel, Method: otherMethod})
		}
		if hooks.Draining != nil && hooks.Draining() {
			ctx.SetConnectionClose()
		}
	}
	server.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		if c, ok := ctx.Conn().(*clientConn); ok && !c.heard {
			// Send nothing before a request's first byte: a browser would take it for the response to its next request.
			_ = ctx.Conn().Close()
			return
		}
		if errors.Is(err, fasthttp.ErrBodyTooLarge) {
			drain(ctx.Conn(), forBody)
		}
		method, path, route := routes.ofUnread(app, ctx)
		fail(ctx, err)
		observe(ctx, RequestObservation{Surface: SurfaceOfPath(path), Route: route, Method: method})
	}
}

// patience holds the limits for reading and dropping the rest of a refused request body.
type patience struct {
	most int // Most bytes dropped from a refused request body.
	// Longest time without a byte of a refused request body.
	idle time.Duration
	long time.Duration // Longest time in all for dropping a refused request body.
}

var (
	forBody = patience{16 << 20, 100 * time.Millisecond, 2 * time.Second}
	// A refused upload gets longer limits, since a phone sends with interruptions.
	forUpload = patience{64 << 20, time.Second, 30 * time.Second}
)

// drain reads and drops, within limits, what the caller still sends. Closing a connection with unread bytes resets
// it, and the caller would not see the response.
func drain(conn net.Conn, p patience) {
	buffer := make([]byte, 32<<10)
	for read, end := 0, time.Now().Add(p.long); read < p.most && time.Now().Before(end); {
		if conn.SetReadDeadline(time.Now().Add(p.idle)) != nil {
			return
		}
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		read += n
	}
}
