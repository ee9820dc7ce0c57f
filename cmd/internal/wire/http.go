package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	httpadapter "partnerdeposits/adapters/http"
	"partnerdeposits/adapters/http/checkout"
	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/ops"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/postgres/dispatchstore"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/run"
)

// checkoutRequestsPerMinute bounds the requests of an address to checkout pages: enough for a household behind a single
// address, too few to guess tokens.
const checkoutRequestsPerMinute = 120

// Listeners are open listeners. Where a listener is nil, the configuration gives the address.
type Listeners struct{ Public, Ops net.Listener }

// HTTP wires the process that serves partners, operators and tenants.
func HTTP(ctx context.Context, cfg config.Config, log *slog.Logger) (run.Process, error) {
	return HTTPOn(ctx, cfg, log, Listeners{})
}

// HTTPOn is HTTP with open listeners.
func HTTPOn(ctx context.Context, cfg config.Config, log *slog.Logger, on Listeners) (run.Process, error) {
	s, err := open(ctx, cfg, log, "http", apiConns, true)
	if err != nil {
		return run.Process{}, err
	}
	registry := metrics.NewRegistry(log)
	registry.PostgresPools(map[string]*pgxpool.Pool{"http": s.Pool, "ops": s.ops})
	registry.RedisPools(map[string]redis.UniversalClient{"http": s.Redis})
	registry.Backlog(dispatchstore.NewBacklog(s.ops)) // the dispatchers tell the same, and may all be away
	ready := s.readiness()
	app, err := s.httpApp(registry, ready)
	if err != nil {
		return run.Process{}, err
	}
	return run.Process{
		Name: "http", Log: log, Drain: ready.Drain, DrainDelay: cfg.DrainDelay,
		Parts: append(s.parts,
			opsPart(listenAddress{on.Ops, "METRICS_ADDR", cfg.MetricsAddr}, ops.Handler(ready, registry.Handler()), log),
			run.Background("readiness", ready.Watch),
			run.Background("kind of redis", s.awaitRedis),
			run.Background("restore epoch", s.epoch.Watch),
			httpPart(listenAddress{on.Public, "HTTP_ADDR", cfg.HTTPAddr}, app, log),
		),
	}, nil
}

func (s *process) httpApp(registry *metrics.Registry, ready *ops.Readiness) (*fiber.App, error) {
	results := make([]string, 0, len(idempotent.Results))
	for _, r := range idempotent.Results {
		results = append(results, string(r))
	}
	counted := registry.HTTP(middleware.Surfaces, results)
	parts := DefaultParts(s.cfg, s.Stores, system.Clock{}, s.log)
	parts.warnWithoutPayments()
	var err error
	if parts.Passwords, err = passwords.New(); err != nil {
		return nil, err
	}
	parts.Doorbell, parts.DepositMetrics, parts.LimiterFailedOpen = s.bell, registry.Deposits(), counted.LimiterFailedOpen
	parts.Epoch = s.epoch.Current
	parts.Idempotency = func(r idempotent.Result) { counted.Idempotency(string(r)) }
	all := NewServices(s.cfg, s.Stores, parts)
	site, err := ui.NewSite(s.cfg.DashboardBaseURL, parts.Entropy)
	if err != nil {
		return nil, err
	}
	return httpadapter.New(httpadapter.Config{
		Log: s.log, TrustedProxies: s.cfg.TrustedProxies, HSTS: s.cfg.HTTPS(), Traced: traced(s.cfg), Route: counted.Route,
		Draining:  ready.Draining,
		Observe:   func(o middleware.Observation) { counted.Request(o.Surface, o.Route, o.Method, o.Status, o.Duration) },
		Forwarded: s.noticeForwarded(),
	}, httpadapter.Surfaces{
		PartnerAPI: partnerapi.Deps{
			Partners: all.Partners, Clients: all.Clients, Deposits: all.Deposits, Webhooks: all.Webhooks, Simulate: all.Payments,
			Idempotent: all.Idempotent, Limiter: all.Limiter, Clock: parts.Clock, Environment: s.cfg.Environment, BaseURL: s.cfg.APIBaseURL,
		},
		Connect: connect.Deps{
			Connections: all.Connections, Operators: all.Operators, Limiter: all.Limiter,
			AttemptsPerMinute: s.cfg.AuthAttemptsPerMinute, Site: site,
		},
		Dashboard: dashboard.Deps{Connections: all.Connections, Operators: all.Operators, Deposits: s.Postgres, Site: site},
		Checkout: checkout.Deps{
			Checkout: all.Checkout, Limiter: all.Limiter, RequestsPerMinute: checkoutRequestsPerMinute, Site: site, Log: s.log,
		},
		Payments: parts.PayPage,
	})
}

// noticeForwarded warns once, and keeps a note for `admin doctor`.
func (s *process) noticeForwarded() func(ctx context.Context, peer, header string) {
	var warned sync.Once
	return func(ctx context.Context, peer, header string) {
		warned.Do(func() {
			s.log.WarnContext(ctx, "a peer that is not in TRUSTED_PROXIES tells the address of another client; if it is a proxy, all its clients share one limit",
				"peer", peer, "header", header)
		})
		redisadapter.NoteForwarded(ctx, s.Redis, s.Breaker, redisadapter.Forwarded{Peer: peer, Header: header})
	}
}

// httpPart serves the public. Its stop closes the listener and waits for the requests in flight.
func httpPart(at listenAddress, app *fiber.App, log *slog.Logger) run.Part {
	return run.Part{
		Name: "http server",
		Start: func(ctx context.Context, fail func(error)) error {
			listener, err := at.listen(ctx)
			if err != nil {
				return err
			}
			go func() {
				if err := app.Listener(middleware.Listener(listener)); err != nil {
					fail(fmt.Errorf("http server: %w", err))
				}
			}()
			log.Info("listening", "for", "the public", "address", listener.Addr().String())
			return nil
		},
		Stop: app.ShutdownWithContext,
	}
}

// opsPart serves operators.
func opsPart(at listenAddress, handler http.Handler, log *slog.Logger) run.Part {
	var server *ops.Server
	return run.Part{
		Name: "ops server",
		Start: func(ctx context.Context, fail func(error)) error {
			listener, err := at.listen(ctx)
			if err != nil {
				return err
			}
			server = ops.NewServer(listener, handler, log)
			go func() {
				if err := server.Serve(); err != nil {
					fail(fmt.Errorf("ops server: %w", err))
				}
			}()
			log.Info("listening", "for", "operators", "address", listener.Addr().String())
			return nil
		},
		Stop: func(ctx context.Context) error { return server.Shutdown(ctx) },
	}
}

// listenAddress is an open listener, or an address from the configuration.
type listenAddress struct {
	open           net.Listener
	variable, addr string
}

func (a listenAddress) listen(ctx context.Context) (net.Listener, error) {
	if a.open != nil {
		return a.open, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.addr)
	var failed *net.OpError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("cannot listen on %s (%s): %w", a.addr, a.variable, failed.Err)
	}
	return listener, err
}
