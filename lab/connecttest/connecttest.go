// Package connecttest serves the connect pages and the dashboard over real HTTP and a real database, for tests
// with a Browser.
package connecttest

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/account"
	"partnerdeposits/adapters/http/caughtmails"
	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/system"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/redistest"
	"partnerdeposits/lab/servetest"
	"partnerdeposits/lab/servicetest"
	"partnerdeposits/lab/styleguide"
	ports "partnerdeposits/ports/platform"
)

// Limiter is a fake rate limiter that allows Max calls in all.
type Limiter struct {
	Max   int
	seen  atomic.Int64
	Rules atomic.Pointer[[]ports.LimitRule] // The limit rules of the last call of Allow.
}

// Allow refuses every call after the first Max. The rules that count every request to the operator pages always
// pass; their tests use a real limiter.
func (l *Limiter) Allow(_ context.Context, rules ...ports.LimitRule) ports.LimitDecision {
	if name := rules[0].Name; name == "desk-reads" || name == "desk-acts" {
		return ports.LimitDecision{Allowed: true}
	}
	l.Rules.Store(&rules)
	return ports.LimitDecision{Allowed: int(l.seen.Add(1)) <= l.Max, RetryAfter: 7 * time.Second}
}

// Uncount does nothing: in this fake a call taken back still counts.
func (l *Limiter) Uncount(context.Context, ...ports.LimitRule) {}

// Options of a test server for the connect pages. The zero value means SERVICE_ENV=development, plain HTTP and no
// rate limit.
type Options struct {
	Environment  partner.Environment
	DashboardURL string // Base URL of the dashboard; "": the test server's.
	// The attempts that the fake limiter allows; 0: no limit.
	Limit int
	// Mails reports whether the service sends mails, so that operators must verify their addresses.
	Mails   bool
	Uploads *dashboard.UploadLimits // Limits on uploads of files; nil: as in production.
	// Counted reports whether a real Redis counts attempts by Browser.From, instead of the fake Limiter.
	Counted bool
	// A function that replaces parts of the use cases; nil: none.
	Parts func(*servicetest.Deps)
}

// Server is a test server of the connect pages and the dashboard, with its use cases and database.
type Server struct {
	*servicetest.Kit
	URL          string
	DashboardURL string
	Clock        *servicetest.Clock
	Limiter      *Limiter
	Routes       []Route
}

// Route is a page or form of the test server. A segment of Path that begins with a colon is a parameter.
type Route struct{ Method, Path string }

// New starts a test server of the connect pages and the dashboard, which ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	addr, serve := servetest.Listen(t)
	s := &Server{URL: "http://" + addr, Clock: servicetest.NewClock(time.Now()), Limiter: &Limiter{Max: o.Limit}}
	if s.DashboardURL = o.DashboardURL; s.DashboardURL == "" {
		s.DashboardURL = s.URL
	}
	if o.Limit == 0 {
		s.Limiter.Max = 1 << 30
	}
	s.Kit = servicetest.New(t, func(set *servicetest.Setup) {
		set.Clock, set.Config.DashboardBaseURL = s.Clock, s.DashboardURL
		set.Parts = o.Parts
		if o.Counted {
			set.Redis = redistest.NewClientAsCloser(t)
		}
		if o.Mails {
			set.Config.SMTPURL, set.Config.MailFrom = "smtp://127.0.0.1:9", "a@b.example"
		}
		if o.Environment != "" {
			set.Config.Environment = o.Environment
		}
	})
	serve(s.app(t, o))
	return s
}

func (s *Server) app(t testing.TB, o Options) *fiber.App {
	t.Helper()
	site, err := ui.NewSiteCookies(s.DashboardURL, system.Entropy{}, s.Cipher)
	require.NoError(t, err)
	var limiter ports.Limiter = s.Limiter
	var proxies []string
	if o.Counted {
		limiter, proxies = s.Services.Limiter, []string{"127.0.0.1"}
	}
	desk := dashboard.Deps{
		Connections: s.Connections, Operators: s.Operators, Desk: s.Desk, Deposits: s.Services.Deposits,
		Books: s.Services.Books, Entropy: system.Entropy{}, Limiter: limiter,
		Site: site, Log: slog.New(slog.DiscardHandler), Uploads: o.Uploads,
	}
	app := fiber.New(
		middleware.FiberConfig(middleware.ServerConfig{TrustedProxies: proxies, ErrorHandler: problem.Handler(problem.Config{
			Logger:     slog.New(slog.DiscardHandler),
			RenderPage: desk.RenderProblem,
			IsPage:     func(*fiber.Ctx) bool { return true },
		})}))
	middleware.HardenServer(app, middleware.ServerHooks{Uploads: dashboard.IsUpload})
	app.Use(middleware.RequestID(), middleware.Recover(), middleware.SecurityHeaders(false),
		middleware.LimitHandlerTime(middleware.HandlerTimeout), middleware.RefuseSmuggling())
	ui.MountAssets(app)
	connect.Mount(app,
		connect.Deps{Connections: s.Connections, Operators: s.Operators, Limiter: limiter, AttemptsPerMinute: 10, Site: site})
	caughtmails.Mount(app, caughtmails.Deps{Mails: s.Postgres.Mails, Site: site, DashboardURL: s.DashboardURL})
	styleguide.Mount(app, styleguide.Deps{Clock: s.Clock, Site: site, DashboardURL: s.DashboardURL})
	account.Mount(app, account.Deps{Operators: s.Operators, Limiter: limiter, AttemptsPerMinute: 10, Site: site})
	dashboard.Mount(app, desk)
	for _, r := range app.GetRoutes(true) {
		if r.Method != fiber.MethodHead {
			s.Routes = append(s.Routes, Route{r.Method, r.Path})
		}
	}
	return app
}
