package wire

import (
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/passwords"
	paymentsnone "partnerdeposits/adapters/payments/none"
	paymentssandbox "partnerdeposits/adapters/payments/sandbox"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/adapters/system"
	"partnerdeposits/adapters/webhook"
	"partnerdeposits/app/checkout"
	"partnerdeposits/app/clients"
	"partnerdeposits/app/connections"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/operators"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

var (
	clock   = system.Clock{}
	entropy = system.Entropy{}
)

// payment is who takes money and judges tenants.
type payment struct {
	provider  ports.PaymentProvider
	simulator ports.PaymentSimulator // nil where payments are real
	scoring   ports.Scoring
	mount     func(fiber.Router) // the provider's own page; nil where it is elsewhere
}

// payment gives the sandbox outside production. In production there is none yet: checkouts wait, and say so.
func (s *stores) payment() payment {
	if s.cfg.Environment == partner.Production {
		s.log.Warn("no payment provider is set up for production: tenants are told to come back later")
		return payment{provider: paymentsnone.Provider{}, scoring: scoring.None{}}
	}
	sandbox := paymentssandbox.New(s.pool, s.cfg.DashboardBaseURL, entropy, clock)
	return payment{
		provider: sandbox, simulator: sandbox, scoring: scoring.Sandbox{},
		mount: func(r fiber.Router) { paymentssandbox.Mount(r, sandbox) },
	}
}

func (s *stores) checkout(p payment, metrics ports.DepositMetrics) *checkout.Service {
	return checkout.New(checkout.Config{Timers: s.cfg.Timers(), DashboardBaseURL: s.cfg.DashboardBaseURL}, checkout.Deps{
		UnitOfWork: s.store, Deposits: s.store, Accounts: s.store, Payments: s.store, Due: s.store,
		Provider: p.provider, Simulator: p.simulator, Scoring: p.scoring,
		Clock: clock, Entropy: entropy, Metrics: metrics, Log: s.log,
	})
}

func (s *stores) partners() *partners.Service {
	return partners.New(partners.Deps{
		UnitOfWork: s.store, Partners: s.store, APIKeys: s.store, Links: s.store, Clock: clock, Entropy: entropy, Environment: s.cfg.Environment,
		Limits: partners.Limits{PerMinute: s.cfg.RateLimitPerMinute, WritesPerMinute: s.cfg.RateLimitWritesPerMinute},
	})
}

func (s *stores) connections(hashes ports.Passwords) *connections.Service {
	return connections.New(connections.Deps{
		UnitOfWork: s.store, Partners: s.store, Operators: s.store, Links: s.store, Passwords: hashes,
		Clock: clock, Entropy: entropy, Environment: s.cfg.Environment, DashboardURL: s.cfg.DashboardBaseURL,
	})
}

// webhooks gives the use cases of subscriptions and their deliveries: all of them to the API, with its keys; to dispatcher
// and admin command those about replays, which take no key and ring no bell.
func (s *stores) webhooks(keys *idempotent.Keys) *webhooks.Service {
	return webhooks.New(webhooks.Deps{
		UnitOfWork: s.store, Keys: keys, Subscriptions: s.store, Deliveries: s.store, Replays: s.store,
		Targets: webhook.NewTargetCheck(s.cfg.WebhookAllowInsecureTargets), Doorbell: s.bell,
		Clock: clock, Entropy: entropy, After: time.After, AllowInsecure: s.cfg.WebhookAllowInsecureTargets,
	})
}

// services is what the HTTP server offers to the world.
type services struct {
	partners    *partners.Service
	clients     *clients.Service
	deposits    *deposits.Service
	webhooks    *webhooks.Service
	checkout    *checkout.Service
	connections *connections.Service
	operators   *operators.Service
	keys        *idempotent.Keys
	limiter     *redisadapter.Limiter
}

// counters is where the services count.
type counters struct {
	deposits    ports.DepositMetrics
	idempotency func(idempotent.Result)
	failedOpen  func()
}

func (s *stores) services(p payment, count counters, log *slog.Logger) (services, error) {
	hashes, err := passwords.New()
	if err != nil {
		return services{}, err
	}
	cache := redisadapter.NewIdempotencyCache(s.redis, s.guard, s.cipher, log)
	keys := idempotent.New(s.store, cache, entropy, count.idempotency)
	tenants := s.checkout(p, count.deposits)
	return services{
		partners:    s.partners(),
		connections: s.connections(hashes),
		operators:   operators.New(operators.Deps{UnitOfWork: s.store, Operators: s.store, Passwords: hashes, Clock: clock, Entropy: entropy}),
		clients:     clients.New(clients.Deps{Keys: keys, Clients: s.store, Links: s.store, Clock: clock, Entropy: entropy}),
		checkout:    tenants,
		deposits: deposits.New(deposits.Deps{
			Keys: keys, Deposits: s.store, Settler: tenants, Metrics: count.deposits, Clock: clock, Entropy: entropy,
			Timers: s.cfg.Timers(), DashboardURL: s.cfg.DashboardBaseURL,
		}),
		webhooks: s.webhooks(keys),
		keys:     keys,
		limiter:  redisadapter.NewLimiter(s.redis, s.guard, count.failedOpen),
	}, nil
}
