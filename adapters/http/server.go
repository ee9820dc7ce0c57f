// Package http joins the surfaces (partner API, pages, documentation) into the public server. Each surface is a package
// below; this file holds the order of the middleware that every request passes.
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

// forwardedInterval is the time between two looks for peers that should be trusted proxies.
const forwardedInterval = 10 * time.Minute

// Config holds the settings that differ between installations.
type Config struct {
	Log            *slog.Logger
	TrustedProxies []string // addresses or CIDR ranges from which X-Real-IP counts
	// the one header of theirs that counts: X-Real-IP or X-Forwarded-For; "": middleware.ClientAddress
	ProxyHeader string
	HSTS        bool // the service is reached over https

	// Observe is called for every response, for metrics. Route is called once for each route, inside New.
	Observe func(middleware.Observation)
	Route   func(surface, route, method string)

	// InFlight is called with 1 when a request begins, and with -1 once its answer is sent. May be nil.
	InFlight func(change int)

	// Draining reports that the process is about to stop: every response ends its connection. May be nil.
	Draining func() bool

	// Forwarded is called now and then while headers of proxies ask for a look at the settings; nil: never.
	Forwarded func(context.Context, middleware.Notice)

	Traced bool // record a span for every request
}

// Surfaces holds the dependencies of every surface.
type Surfaces struct {
	PartnerAPI partnerapi.Deps
	Connect    connect.Deps
	Account    account.Deps
	Dashboard  dashboard.Deps
	Checkout   checkout.Deps

	// Egress are the ranges of addresses from which deliveries come; none: they are not told.
	Egress []string

	// CaughtMails are the pages of the mails that a service in development stores instead of sending them; nil where
	// mails are sent.
	CaughtMails *caughtmails.Deps

	// Extra mounts further pages, with the headers and the language of the service's own; nil: none.
	Extra func(fiber.Router)

	// Callbacks takes the callbacks of the payment provider; nil where the provider sends none.
	Callbacks *callbacks.Service

	// Payments mounts the hosted page of the sandbox provider; nil in production.
	Payments func(fiber.Router)
}

// New builds the server, which does not listen yet.
func New(cfg Config, s Surfaces) (*fiber.App, error) {
	unavailable := outage.New(cfg.Log)
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{
		TrustedProxies: cfg.TrustedProxies,
		ErrorHandler: problem.Handler(
			problem.Config{Logger: cfg.Log, Unavailable: unavailable, RenderPage: s.Dashboard.RenderProblem, IsPage: isPage}),
	}))
	cfg.Observe = watching(unavailable, cfg.Observe)
	middleware.Harden(app, middleware.Hooks{
		Observe: cfg.Observe, InFlight: cfg.InFlight, Draining: cfg.Draining, Uploads: dashboard.IsUpload,
	})
	app.Server().Logger = slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug) // reports violations of HTTP by callers

	// Every request passes these handlers from top to bottom. The partner API adds its own in partnerapi/routes.go.
	app.Use(middleware.RequestID()) // first, so that every log line and response names the request
	if cfg.Traced {
		app.Use(middleware.Trace()) // outside of the log, so that every log line names the trace
	}
	if len(cfg.TrustedProxies) > 0 || cfg.ProxyHeader != "" {
		app.Use(middleware.ClientAddress(cfg.TrustedProxies, cfg.ProxyHeader)) // before any handler that asks for the address
	}
	app.Use(
		middleware.AccessLog(cfg.Log, cfg.Observe),    // outside of every handler that can fail: logs the final status
		middleware.Recover(),                          // inside the log: a panic is logged and answered like any error
		middleware.SecurityHeaders(cfg.HSTS),          // before any handler responds
		middleware.Deadline(middleware.DeadlineAfter), // bounds the time of all later handlers
		middleware.Framing(),                          // before any handler reads the body
	)
	if cfg.Forwarded != nil {
		app.Use(middleware.Forwarded(forwardedInterval,
			func(c *fiber.Ctx, n middleware.Notice) { cfg.Forwarded(c.UserContext(), n) }))
	}
	app.Use(middleware.Compress()) // innermost: errors, which stay as they are, pass it by
	if err := mount(app, s); err != nil {
		return nil, err
	}
	for _, r := range app.GetRoutes(true) {
		if r.Method != fiber.MethodHead {
			cfg.Route(middleware.Surface(r.Path), r.Path, r.Method)
		}
	}
	return app, nil
}

// watching ends an outage with the first requests that do not fail.
func watching(unavailable *outage.Log, observe func(middleware.Observation)) func(middleware.Observation) {
	return func(o middleware.Observation) {
		if o.Status < fiber.StatusInternalServerError {
			unavailable.Worked(context.Background())
		}
		if observe != nil {
			observe(o)
		}
	}
}

func mount(app *fiber.App, s Surfaces) error {
	if err := partnerapi.Mount(app, s.PartnerAPI); err != nil {
		return err
	}
	document, err := partnerapi.Document()
	if err != nil {
		return err
	}
	docs.New(document, strings.TrimSuffix(s.PartnerAPI.BaseURL, "/"),
		s.PartnerAPI.Environment != partner.Production).Egress(s.Egress).Register(app)
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
	app.Get(site.Home, func(c *fiber.Ctx) error { return c.Redirect(site.Desk, fiber.StatusSeeOther) })
	return nil
}

// isPage reports whether a failed request is answered with a page for people. Programs get the envelope.
func isPage(c *fiber.Ctx) bool {
	switch middleware.Surface(c.Path()) {
	case middleware.SurfaceAPI, middleware.SurfaceDocs, middleware.SurfacePayments:
		return false
	case middleware.SurfaceOther:
		return strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
	}
	return true
}
