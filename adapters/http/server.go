// Package http puts the surfaces together into the one server for the public. What each of them does is in its own
// package below; here is the order in which a request passes through.
package http

import (
	"log/slog"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/checkout"
	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/http/docs"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
)

// Config is what differs between installations.
type Config struct {
	Log            *slog.Logger
	TrustedProxies []string // addresses or CIDR ranges whose X-Real-IP is believed
	HSTS           bool     // the service is reached over https

	// Observe is called for every answer, for metrics; Route once for each route, before the server answers.
	Observe func(middleware.Observation)
	Route   func(surface, route, method string)

	Traced bool // make a span of every request
}

// Surfaces is everything that is served.
type Surfaces struct {
	PartnerAPI partnerapi.Deps
	Connect    connect.Deps
	Dashboard  dashboard.Deps
	Checkout   checkout.Deps

	// Payments mounts the hosted page of the sandbox provider; nil in production.
	Payments func(fiber.Router)
}

// New makes the server. It does not listen yet.
func New(cfg Config, s Surfaces) (*fiber.App, error) {
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{
		TrustedProxies: cfg.TrustedProxies,
		ErrorHandler:   problem.Handler(problem.Config{Logger: cfg.Log, RenderPage: ui.RenderProblem, IsPage: isPage}),
	}))
	middleware.Harden(app, cfg.Observe)

	// The order is explained where the middleware is: package middleware.
	app.Use(
		middleware.RequestID(),
		middleware.AccessLog(cfg.Log, cfg.Observe),
		middleware.Recover(),
		middleware.SecurityHeaders(cfg.HSTS),
		middleware.Deadline(middleware.DeadlineAfter),
		middleware.Framing(),
	)
	if cfg.Traced {
		app.Use(tracing())
	}
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

func mount(app *fiber.App, s Surfaces) error {
	if err := partnerapi.Mount(app, s.PartnerAPI); err != nil {
		return err
	}
	document, err := partnerapi.Document()
	if err != nil {
		return err
	}
	pages, err := docs.New(document, strings.TrimSuffix(s.PartnerAPI.BaseURL, "/"))
	if err != nil {
		return err
	}
	pages.Register(app)
	connect.Mount(app, s.Connect)
	dashboard.Mount(app, s.Dashboard)
	checkout.Mount(app, s.Checkout)
	if s.Payments != nil {
		s.Payments(app)
	}
	ui.MountAssets(app)
	app.Get("/", func(c *fiber.Ctx) error { return c.Redirect("/dashboard", fiber.StatusSeeOther) })
	return nil
}

// isPage tells which requests are answered by a page when they fail: those of people. Programs get the envelope.
func isPage(c *fiber.Ctx) bool {
	switch middleware.Surface(c.Path()) {
	case middleware.SurfaceAPI, middleware.SurfaceDocs:
		return false
	case middleware.SurfaceOther:
		return strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
	}
	return true
}
