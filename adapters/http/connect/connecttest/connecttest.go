// Package connecttest serves the connect pages and the dashboard over real HTTP, on a real database, with a clock that a
// test can set, and browses them as a person would.
package connecttest

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/pgtest"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/connections"
	"partnerdeposits/app/operators"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// Clock stands still until it is moved.
type Clock struct{ at atomic.Int64 }

// Now implements ports.Clock.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.at.Load()).UTC() }

// Set moves the clock.
func (c *Clock) Set(at time.Time) { c.at.Store(at.UnixMicro()) }

// Limiter counts without forgetting: a test says how much is allowed.
type Limiter struct {
	Max   int
	seen  atomic.Int64
	Rules atomic.Pointer[[]ports.LimitRule] // of the last call
}

// Allow implements ports.Limiter.
func (l *Limiter) Allow(_ context.Context, rules ...ports.LimitRule) ports.LimitDecision {
	l.Rules.Store(&rules)
	return ports.LimitDecision{Allowed: int(l.seen.Add(1)) <= l.Max, RetryAfter: 7 * time.Second}
}

// Options differ between tests; the zero value is development over http without a limit that matters.
type Options struct {
	Environment  partner.Environment
	DashboardURL string // "": where the server listens
	Limit        int    // attempts in all; 0: no limit
}

// Server is a running dashboard host.
type Server struct {
	URL          string
	DashboardURL string
	Pool         *pgxpool.Pool
	Store        *postgres.Store
	Clock        *Clock
	Limiter      *Limiter
	Connections  *connections.Service
	Operators    *operators.Service
}

// New starts a server that ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{URL: "http://" + listener.Addr().String(), Clock: &Clock{}, Limiter: &Limiter{Max: o.Limit}}
	s.Clock.Set(time.Now())
	if s.DashboardURL = o.DashboardURL; s.DashboardURL == "" {
		s.DashboardURL = s.URL
	}
	if o.Limit == 0 {
		s.Limiter.Max = 1 << 30
	}
	if o.Environment == "" {
		o.Environment = partner.Development
	}
	s.assemble(t, o.Environment)
	app := s.app(t)
	done := make(chan error, 1)
	go func() { done <- app.Listener(listener) }()
	t.Cleanup(func() {
		require.NoError(t, app.ShutdownWithTimeout(5*time.Second))
		require.NoError(t, <-done)
	})
	return s
}

func (s *Server) assemble(t testing.TB, env partner.Environment) {
	t.Helper()
	pool, err := postgres.NewPool(t.Context(), pgtest.URL(t), postgres.PoolOptions{})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	cipher, err := secrets.Open(secrets.DevelopmentKeyset)
	require.NoError(t, err)
	hasher, err := passwords.New(passwords.Cheap)
	require.NoError(t, err)
	s.Pool, s.Store = pool, postgres.NewStore(pool, cipher, postgres.Options{})
	t.Cleanup(func() { s.Store.Close(context.Background()) })
	s.Connections = connections.New(connections.Deps{
		UnitOfWork: s.Store, Partners: s.Store, Operators: s.Store, Links: s.Store, Passwords: hasher,
		Clock: s.Clock, Entropy: system.Entropy{}, Environment: env, DashboardURL: s.DashboardURL,
	})
	s.Operators = operators.New(operators.Deps{UnitOfWork: s.Store, Operators: s.Store, Passwords: hasher, Clock: s.Clock, Entropy: system.Entropy{}})
}

func (s *Server) app(t testing.TB) *fiber.App {
	t.Helper()
	site, err := ui.NewSite(s.DashboardURL, system.Entropy{})
	require.NoError(t, err)
	app := fiber.New(middleware.FiberConfig(middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{
		Logger:     slog.New(slog.DiscardHandler),
		RenderPage: ui.RenderProblem,
		IsPage:     func(*fiber.Ctx) bool { return true },
	})}))
	app.Use(middleware.RequestID(), middleware.Recover(), middleware.SecurityHeaders(false), middleware.Deadline(middleware.DeadlineAfter), middleware.Framing())
	ui.MountAssets(app)
	connect.Mount(app, connect.Deps{Connections: s.Connections, Operators: s.Operators, Limiter: s.Limiter, AttemptsPerMinute: 10, Site: site})
	dashboard.Mount(app, dashboard.Deps{Connections: s.Connections, Operators: s.Operators, Deposits: s.Store, Site: site})
	return app
}

// Partner adds a partner with a connect secret; key "" leaves it without one.
func (s *Server) Partner(t testing.TB, slug string, key secret.Text, origins ...string) partner.Partner {
	t.Helper()
	p := partner.Partner{ID: system.Entropy{}.NewID(), Slug: slug, Name: "Partner " + slug, ReturnOrigins: origins, CreatedAt: s.Clock.Now()}
	require.NoError(t, s.Store.WithinTx(t.Context(), func(ctx context.Context, repos ports.Repositories) error {
		return repos.Partners.Insert(ctx, p, key)
	}))
	return p
}

// Count counts the rows of a table, as where narrows it.
func (s *Server) Count(t testing.TB, table, where string, args ...any) int {
	t.Helper()
	var n int
	query := "SELECT count(*) FROM " + table
	if where != "" {
		query += " WHERE " + where
	}
	require.NoError(t, s.Pool.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}
