// Package middleware holds the handlers that every request passes (chain.go) and the configuration of the fiber app.
// The list in adapters/http/server.go is the order in which they run, with a reason for each place.
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

// Limits of the server.
const (
	MaxBody       = 64 << 10         // bytes of a request body (api.md §1)
	DeadlineAfter = 10 * time.Second // for a handler; fiber does not notice that the caller has disconnected

	readTimeout  = 10 * time.Second // for a whole request: half a request must not occupy a connection for ever
	writeTimeout = 30 * time.Second
	idleTimeout  = 60 * time.Second
	readBuffer   = 16 << 10 // bytes of headers
	// hardBody is the largest body that is read to its end before it is refused: the caller receives the response and
	// can keep its connection. A larger body closes the connection.
	hardBody = 256 << 10
)

// ServerConfig holds the settings that differ between installations.
type ServerConfig struct {
	ErrorHandler fiber.ErrorHandler // problem.Handler

	// TrustedProxies are addresses or CIDR ranges. X-Real-IP counts only from these; a proxy must overwrite that header.
	TrustedProxies []string
}

// FiberConfig returns the configuration of the fiber app, with safe values where fiber's defaults are not.
func FiberConfig(cfg ServerConfig) fiber.Config {
	c := fiber.Config{
		ErrorHandler:            cfg.ErrorHandler,
		Immutable:               true, // otherwise strings of a request change when its buffers are reused
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

// Hooks tie the server to the process around it. Each may be nil.
type Hooks struct {
	Observe  func(Observation) // called for every response, when it goes to the connection
	InFlight func(change int)  // called with 1 when a request begins, and with -1 once its answer is sent
	Draining func() bool       // the process is about to stop: every response ends its connection

	// Uploads tells by its head whether the handler of a request reads the body itself; nil: none does.
	Uploads func(*fasthttp.RequestHeader) bool
}

// Harden replaces the responses that fiber and fasthttp give outside of any middleware: plain text to an unknown
// method, and errors that quote the bytes of an unreadable request. Call Harden once, after fiber.New and before
// Listen.
func Harden(app *fiber.App, hooks Hooks) {
	known := map[string]bool{}
	for _, m := range app.Config().RequestMethods {
		known[m] = true
	}
	server := app.Server()
	server.SecureErrorLogMessage = true
	server.NoDefaultServerHeader = true
	server.CloseOnShutdown = true // the last response of a connection says so
	server.HeaderReceived = hooks.headReceived
	server.StreamRequestBody = true // for uploads; every other body is read before the first handler runs
	server.DisablePreParseMultipartForm = true
	server.ConnState = noteState

	var routes routeNames
	observe := func(ctx *fasthttp.RequestCtx, o Observation) {
		o.Status = ctx.Response.StatusCode()
		observeSent(ctx, o, hooks.Observe)
	}
	handle, fail := server.Handler, server.ErrorHandler
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		if c, ok := ctx.Conn().(*conn); ok {
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
				if !upload.whole() { // the next request cannot be found on this connection
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
			_ = app.Config().ErrorHandler(c, fault.ErrMethod) // problem.Handler returns no error
			observe(ctx, Observation{Surface: SurfaceOther, Route: UnmatchedRoute, Method: otherMethod})
		}
		if hooks.Draining != nil && hooks.Draining() {
			ctx.SetConnectionClose()
		}
	}
	server.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		if c, ok := ctx.Conn().(*conn); ok && !c.heard {
			_ = ctx.Conn().Close() // fasthttp would send an answer, which a browser takes for that of its next request
			return
		}
		if errors.Is(err, fasthttp.ErrBodyTooLarge) {
			drain(ctx.Conn(), forBody)
		}
		method, path, route := routes.ofUnread(app, ctx)
		fail(ctx, err)
		observe(ctx, Observation{Surface: Surface(path), Route: route, Method: method})
	}
}

// patience bounds a drain.
type patience struct {
	most int           // bytes
	idle time.Duration // without a byte
	long time.Duration // in all
}

var (
	forBody   = patience{16 << 20, 100 * time.Millisecond, 2 * time.Second}
	forUpload = patience{64 << 20, time.Second, 30 * time.Second} // a phone sends in fits and starts
)

// drain reads, within bounds, the bytes that the caller is still sending. Closing a connection with unread bytes resets
// the connection, and the caller would see the reset instead of the response.
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
