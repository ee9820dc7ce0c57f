// Package http builds the public HTTP server from its surfaces (partner API, pages, documentation) and fixes the
// order of the middleware.
package http

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/account"
	"partnerdeposits/adapters/http/caughtmails"
	"partnerdeposits/adapters/http/checkout"
	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/http/docs"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/paymentcallbacks"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/payments/callbacks"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/site"
	"partnerdeposits/ports/platform/outage"
)

// forwardedInterval is the least time between reports of proxies that should be trusted.
const forwardedInterval = 10 * time.Minute

type Config struct {
	Log *slog.Logger
	// Addresses or CIDR ranges of the proxies whose client-address header is believed.
	TrustedProxies []string
	// Header with the client address of a proxied request: X-Real-IP or X-Forwarded-For. For "" see
	// middleware.ClientAddress.
	ProxyHeader string
	// Whether responses carry Strict-Transport-Security, for a service reached over https.
	HSTS bool

	// Observe is called for every response, Route once for each route while New runs.
	Observe func(middleware.RequestObservation)
	Route   func(surface, route, method string)

	// InFlight is called with 1 when a request begins, and with -1 once its response is sent. May be nil.
	InFlight func(change int)

	// Draining reports whether the process is about to stop, so that responses close their connections. May be nil.
	Draining func() bool

	// Forwarded is called at intervals while proxy headers suggest a wrong setting of trusted proxies, and reports whether
	// it stored the note; nil means that nothing is called.
	Forwarded func(context.Context, middleware.ProxyHeaderWarning) (stored bool)

	Traced bool
}

type SurfaceDeps struct {
	PartnerAPI partnerapi.Deps
	Connect    connect.Deps
	Account    account.Deps
	Dashboard  dashboard.Deps
	Checkout   checkout.Deps

	// Egress lists the address ranges from which webhook deliveries are sent; if empty, the documentation names none.
	Egress []string

	// CaughtMails are the pages of the mails that a service in development stores instead of sending them; nil where
	// mails are sent.
	CaughtMails *caughtmails.Deps

	// Extra adds further pages, which get the same headers and languages as the service's own pages; nil means none.
	Extra func(fiber.Router)

	// Callbacks handles the callbacks of the payment provider; nil where the provider sends none.
	Callbacks *callbacks.Service

	// Payments mounts the hosted payment page of the sandbox provider; nil in production.
	Payments func(fiber.Router)
}

// New builds the public HTTP server with all routes and middleware, not listening yet.
func New(cfg Config, s SurfaceDeps) (*fiber.App, error) {
	unavailable := outage.New(cfg.Log)
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{
		TrustedProxies: cfg.TrustedProxies,
		ErrorHandler: problem.Handler(
			problem.Config{Logger: cfg.Log, Unavailable: unavailable, RenderPage: s.Dashboard.RenderProblem, IsPage: isPage}),
	}))
	cfg.Observe = watching(unavailable, cfg.Observe)
	middleware.HardenServer(app, middleware.ServerHooks{
		Observe: cfg.Observe, InFlight: cfg.InFlight, Draining: cfg.Draining, Uploads: dashboard.IsUpload,
	})
	// fasthttp logs callers' violations of HTTP, at debug level.
	app.Server().Logger = slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)

	// Every request passes this middleware from top to bottom; partnerapi/routes.go adds that of the partner API.
	app.Use(middleware.RequestID())
	if cfg.Traced {
		// The trace is outside of the access log, so that log lines name it.
		app.Use(middleware.TraceRequests())
	}
	if len(cfg.TrustedProxies) > 0 || cfg.ProxyHeader != "" {
		// The client address is set first, since log and rate limits use it.
		app.Use(middleware.ClientAddress(cfg.TrustedProxies, cfg.ProxyHeader))
	}
	app.Use(
		// The access log wraps every handler that can fail, to log the final status.
		middleware.AccessLog(cfg.Log, cfg.Observe),
		// A panic is recovered inside the access log, so that it is logged like any error.
		middleware.Recover(),
		middleware.SecurityHeaders(cfg.HSTS),
		// The deadline bounds the time of all later handlers.
		middleware.LimitHandlerTime(middleware.HandlerTimeout),
		// The request's framing is checked before any handler reads the body.
		middleware.RefuseSmuggling(),
	)
	if cfg.Forwarded != nil {
		app.Use(middleware.WarnProxyHeaders(forwardedInterval,
			func(c *fiber.Ctx, n middleware.ProxyHeaderWarning) bool { return cfg.Forwarded(c.UserContext(), n) }))
	}
	app.Use(middleware.Compress()) // Compression is innermost, so that error responses are not compressed.
	if err := mount(app, s); err != nil {
		return nil, err
	}
	for _, r := range app.GetRoutes(true) {
		if r.Method != fiber.MethodHead {
			cfg.Route(middleware.SurfaceOfPath(r.Path), r.Path, r.Method)
		}
	}
	return app, nil
}

// watching wraps observe: a request that does not fail with a 5xx also ends the logged outage.
func watching(unavailable *outage.Log,
	observe func(middleware.RequestObservation)) func(middleware.RequestObservation) {
	return func(o middleware.RequestObservation) {
		if o.Status < fiber.StatusInternalServerError {
			unavailable.RecordSuccess(context.Background())
		}
		if observe != nil {
			observe(o)
		}
	}
}

func mount(app *fiber.App, s SurfaceDeps) error {
	if err := partnerapi.Mount(app, s.PartnerAPI); err != nil {
		return err
	}
	document, err := partnerapi.OpenAPIDocument()
	if err != nil {
		return err
	}
	docs.New(document, strings.TrimSuffix(s.PartnerAPI.BaseURL, "/"),
		s.PartnerAPI.Environment != partner.EnvironmentProduction).AddEgressRanges(s.Egress).Mount(app)
	connect.Mount(app, s.Connect)
	account.Mount(app, s.Account)
	dashboard.Mount(app, s.Dashboard)
	checkout.Mount(app, s.Checkout)
	if s.CaughtMails != nil {
		caughtmails.Mount(app, *s.CaughtMails)
	}
	if s.Extra != nil {
		s.Extra(app)
	}
	if s.Callbacks != nil {
		paymentcallbacks.Mount(app, s.Callbacks)
	}
	if s.Payments != nil {
		s.Payments(app)
	}
	ui.MountAssets(app)
	app.Get(site.HomePath, func(c *fiber.Ctx) error { return c.Redirect(site.DashboardPath, fiber.StatusSeeOther) })
	return nil
}

// isPage reports whether a failed request is answered with an HTML page and not a JSON envelope.
func isPage(c *fiber.Ctx) bool {
	switch middleware.SurfaceOfPath(c.Path()) {
	case middleware.SurfaceAPI, middleware.SurfaceDocs, middleware.SurfacePayments:
		return false
	case middleware.SurfaceOther:
		return strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
	}
	return true
}
