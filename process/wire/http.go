package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/redis/go-redis/v9"

	"partnerdeposits/adapters/files"
	httpadapter "partnerdeposits/adapters/http"
	"partnerdeposits/adapters/http/account"
	"partnerdeposits/adapters/http/caughtmails"
	"partnerdeposits/adapters/http/checkout"
	"partnerdeposits/adapters/http/connect"
	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/ops"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/metrics"
	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/postgres/webhooks/dispatchstore"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/system"
	"partnerdeposits/app/payments/callbacks"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/services"
	"partnerdeposits/process/version"
)

// checkoutRequestsPerMinute limits an address's requests to checkout pages: enough for a household, too few to
// guess tokens.
const checkoutRequestsPerMinute = 120

// Listeners holds open listening sockets. Where one is nil, the process listens at the configured address.
type Listeners struct{ Public, Ops net.Listener }

func BuildHTTP(ctx context.Context, cfg config.Config, log run.Log) (run.Process, error) {
	return BuildHTTPOnListeners(ctx, cfg, log, Listeners{}, nil)
}

// PageMounter mounts further pages on a router, with the HTTP headers of the service's own pages.
type PageMounter func(fiber.Router, *ui.SiteCookies)

// BuildHTTPOnListeners builds the process that serves partners, operators and tenants, with listeners that are open
// already, and with further pages unless extra is nil.
func BuildHTTPOnListeners(ctx context.Context, cfg config.Config, log run.Log, on Listeners,
	extra PageMounter) (run.Process, error) {
	s, err := open(ctx, cfg, log, "http", apiConns, true)
	if err != nil {
		return run.Process{}, err
	}
	registry := s.registry
	registry.RegisterPostgresPools(s.pools)
	registry.RegisterRedisPools(map[string]redis.UniversalClient{"http": s.redis})
	// This process reports the backlog too, since all dispatchers may be down.
	registry.RegisterBacklog(dispatchstore.NewBacklogReader(s.ops))
	ready := s.readiness()
	waiting := events.NewWaitingRequests()
	app, err := s.httpApp(registry, ready, waiting, extra)
	if err != nil {
		return run.Process{}, err
	}
	return run.Process{
		Name: "http", Log: s.log, Drain: func() { ready.StartDraining(); waiting.Drain() }, DrainDelay: cfg.DrainDelay,
		Parts: append(s.parts,
			s.opsPart(on.Ops, s.opsHandler(ready, registry.Handler(traced(cfg)))),
			run.NewBackgroundPart("readiness", ready.RunChecks), run.NewBackgroundPart("kind of redis", s.awaitRedis),
			run.NewBackgroundPart("restore epoch", s.epoch.Watch),
			run.NewBackgroundPart("feeds", func(ctx context.Context) error {
				return waiting.WatchFeeds(ctx, s.Postgres.Events)
			}),
			run.NewBackgroundPart("feeds that are awaited", func(ctx context.Context) error {
				return redisadapter.AnnounceFeedWaiters(ctx, s.redis, waiting.Size, waiting.WaitStartedSignal())
			}),
			run.NewBackgroundPart("rings for feeds",
				func(ctx context.Context) error {
					return redisadapter.ListenForNewFeedEvents(ctx, s.redis, waiting.WakePartners)
				}),
			s.httpPart(on.Public, app),
		),
	}, nil
}

func (s *process) httpApp(registry *metrics.Registry, ready *ops.Readiness, waiting *events.WaitingRequests,
	extra PageMounter) (*fiber.App, error) {
	results := make([]string, 0, len(idempotent.Results))
	for _, r := range idempotent.Results {
		results = append(results, string(r))
	}
	counted := registry.RegisterHTTP(middleware.Surfaces, results)
	parts := services.DefaultDeps(s.cfg, s.Stores, system.Clock{}, s.log)
	parts.WarnWithoutPayments()
	if err := files.CheckTempDir(); err != nil {
		s.log.Warn("forms with files will fail: the directory for temporary files (TMPDIR, or /tmp) cannot be written",
			"error", err)
	}
	var err error
	if parts.Passwords, err = passwords.New(); err != nil {
		return nil, err
	}
	s.limits(&parts, counted.CountLimiterFailedOpen)
	parts.Doorbell, parts.DepositMetrics, parts.PaymentMetrics = s.bell, registry.RegisterDeposits(),
		registry.RegisterPayments()
	parts.Epoch, parts.Waiting = s.epoch.Current, waiting
	parts.Idempotency = func(r idempotent.Result) { counted.CountIdempotentRequest(string(r)) }
	all := services.New(s.cfg, s.Stores, parts)
	site, err := ui.NewSiteCookies(s.cfg.DashboardBaseURL, parts.Entropy, s.Cipher)
	if err != nil {
		return nil, err
	}
	return httpadapter.New(httpadapter.Config{
		Log: s.log, TrustedProxies: s.cfg.TrustedProxies, ProxyHeader: s.cfg.TrustedProxyHeader, HSTS: s.cfg.UsesHTTPS(),
		Traced: traced(s.cfg),
		Route:  counted.InitRoute, InFlight: counted.AddInFlight, Draining: ready.Draining,
		Observe: func(o middleware.RequestObservation) {
			counted.ObserveRequest(o.Surface, o.Route, o.Method, o.Status, o.Duration, o.TraceID)
		},
		Forwarded: s.noticeForwarded(),
	}, httpadapter.SurfaceDeps{
		PartnerAPI: partnerapi.Deps{
			Partners: all.Partners, Connections: all.Connections, Clients: all.Clients, Deposits: all.Deposits,
			Webhooks: all.Webhooks, Events: all.Events,
			Simulate: all.Payments, Idempotent: all.Idempotent, Limiter: all.Limiter, Clock: parts.Clock,
			Environment: s.cfg.Environment, BaseURL: s.cfg.APIBaseURL,
		},
		Connect: connect.Deps{
			Connections: all.Connections, Operators: all.Operators, Limiter: all.Limiter,
			AttemptsPerMinute: s.cfg.AuthAttemptsPerMinute, Site: site,
		},
		Account: account.Deps{Operators: all.Operators, Limiter: all.Limiter, AttemptsPerMinute: s.cfg.AuthAttemptsPerMinute,
			Site: site},
		Dashboard: dashboard.Deps{
			Connections: all.Connections, Operators: all.Operators, Desk: all.Desk, Deposits: all.Deposits,
			Books: all.Books, Entropy: parts.Entropy, Limiter: all.Limiter,
			Site: site, Log: s.log,
		},
		Checkout: checkout.Deps{
			Checkout: all.Checkout, Limiter: all.Limiter, RequestsPerMinute: checkoutRequestsPerMinute, Site: site, Log: s.log,
		},
		Egress:      s.cfg.EgressRanges(),
		CaughtMails: s.caughtMails(site), Extra: extra.on(site),
		Payments:  parts.PayPage,
		Callbacks: callbacksOf(parts, all),
	})
}

// callbacksOf returns the use cases for the payment provider's callbacks; nil if it sends none, so that the route
// does not exist.
func callbacksOf(p services.Deps, all services.Services) *callbacks.Service {
	if p.Callbacks == nil {
		return nil
	}
	return all.Callbacks
}

// on returns the function that mounts the pages of development, or nil if there are none.
func (p PageMounter) on(site *ui.SiteCookies) func(fiber.Router) {
	if p == nil {
		return nil
	}
	return func(app fiber.Router) { p(app, site) }
}

// caughtMails returns the pages of the mails that development stores instead of sending; nil elsewhere, since mails
// open deposits and accounts.
func (s *process) caughtMails(site *ui.SiteCookies) *caughtmails.Deps {
	if s.cfg.Environment != partner.EnvironmentDevelopment || !s.cfg.CatchesMails() {
		return nil
	}
	return &caughtmails.Deps{Mails: s.Postgres.Mails, Site: site,
		DashboardURL: strings.TrimSuffix(s.cfg.DashboardBaseURL, "/")}
}

// noticeForwarded returns a function that warns about a misconfigured proxy, once for each kind of mistake, and
// keeps a note for `admin doctor`. The function reports whether the note was stored.
func (s *process) noticeForwarded() func(context.Context, middleware.ProxyHeaderWarning) bool {
	var untrusted, both sync.Once
	return func(ctx context.Context, n middleware.ProxyHeaderWarning) bool {
		if n.Both {
			both.Do(func() {
				s.log.WarnContext(ctx,
					"a trusted proxy sent both X-Real-IP and X-Forwarded-For; name the header that it sets in TRUSTED_PROXY_HEADER, "+
						"or its clients may choose their address", "peer", n.Peer)
			})
		} else {
			untrusted.Do(func() {
				s.log.WarnContext(ctx,
					"a peer that is not in TRUSTED_PROXIES tells the address of another client; if it is a proxy, all its clients share one limit",
					"peer", n.Peer, "header", n.Header)
			})
		}
		return redisadapter.StoreProxyHeaderWarning(ctx, s.redis, s.breaker,
			redisadapter.ProxyHeaderWarning{Peer: n.Peer, Header: n.Header, Both: n.Both}) == nil
	}
}

// httpPart returns the part that serves the public. Stopping it waits for the requests in flight.
func (s *process) httpPart(open net.Listener, app *fiber.App) run.Part {
	return run.Part{
		Name: "http server",
		Start: func(ctx context.Context, fail func(error)) error {
			listener, err := listenAddress{open, "HTTP_ADDR", s.cfg.HTTPAddr}.listen(ctx)
			if err != nil {
				return err
			}
			go func() {
				if err := app.Listener(middleware.LimitConnections(listener, s.sockets.RecordFailure)); err != nil {
					fail(fmt.Errorf("http server: %w", err))
				}
			}()
			s.log.Info("listening", "for", "the public", "address", listener.Addr().String())
			return nil
		},
		Stop: app.ShutdownWithContext,
	}
}

func newRegistry(log run.Log) *metrics.Registry {
	registry, b := metrics.NewRegistry(log.Logger), version.Read()
	registry.RegisterBuildInfo(b.Version, b.Revision, b.Date)
	// The doctor's log counts no dropped lines, but the doctor serves no metrics.
	registry.RegisterDroppedLogLines(log.Lines.DroppedLines)
	return registry
}

// opsHandler returns the handler for metrics and health checks, and warns about profiles in production.
func (s *process) opsHandler(ready *ops.Readiness, metrics http.Handler) http.Handler {
	if s.cfg.MetricsPprof && s.cfg.Environment == partner.EnvironmentProduction {
		s.log.Warn(
			"METRICS_PPROF is on in production: whoever reaches METRICS_ADDR may profile this process; turn it off when you have finished")
	}
	b := version.Read()
	return ops.Handler(ready, metrics, ops.BuildInfo{Version: b.Version, Revision: b.Revision, Date: b.Date},
		s.cfg.MetricsPprof)
}

func (s *process) opsPart(open net.Listener, handler http.Handler) run.Part {
	var server *ops.Server
	return run.Part{
		Name: "ops server",
		Start: func(ctx context.Context, fail func(error)) error {
			listener, err := listenAddress{open, "METRICS_ADDR", s.cfg.MetricsAddr}.listen(ctx)
			if err != nil {
				return err
			}
			server = ops.NewServer(middleware.RetryAccept(ops.ReserveFileDescriptor(listener), s.sockets.RecordFailure), handler,
				s.log)
			go func() {
				if err := server.Serve(); err != nil {
					fail(fmt.Errorf("ops server: %w", err))
				}
			}()
			s.log.Info("listening", "for", "operators", "address", listener.Addr().String())
			return nil
		},
		Stop: func(ctx context.Context) error { return server.Shutdown(ctx) },
	}
}

// listenAddress is an open socket, or an address from the configuration, where a server listens.
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
