package wire

import (
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/system"
	"partnerdeposits/adapters/webhook"
	"partnerdeposits/app/checkout"
	"partnerdeposits/app/clients"
	"partnerdeposits/app/connections"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/app/operators"
	"partnerdeposits/app/outbox"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/restore"
	"partnerdeposits/app/timers"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/ports"
)

// Parts are the capabilities beside the stores from which NewServices builds the services. DefaultParts gives the parts
// of a process; tests replace some of them.
type Parts struct {
	UnitOfWork ports.UnitOfWork
	Changes    ports.Changes
	Doorbell   ports.Doorbell // nil in commands, which use no use case that rings
	Clock      ports.Clock
	Entropy    ports.Entropy
	After      func(time.Duration) <-chan time.Time // time.After

	Passwords ports.Passwords // nil in processes without a log-in: DefaultParts leaves them out, since a hasher costs 19 MiB
	Targets   ports.TargetCheck
	Scoring   ports.Scoring
	Provider  ports.PaymentProvider
	Simulator ports.PaymentSimulator // nil where payments are real
	PayPage   func(fiber.Router)     // mounts the provider's payment page; nil where the provider serves its own
	Settler   deposits.Settler       // nil: the service Payments
	Due       ports.DepositScheduler // finds the deposits whose timers have run out: the store

	DepositMetrics    ports.DepositMetrics    // nil in processes that change no deposit
	Epoch             func() ports.Epoch      // the restore epoch; zero in processes that answer no keyed request
	Idempotency       func(idempotent.Result) // counts the results of keyed requests
	LimiterFailedOpen func()                  // counts the requests that were allowed because Redis did not answer

	Log *slog.Logger
}

// DefaultParts are the parts of a process.
func DefaultParts(cfg config.Config, stores Stores, clock ports.Clock, log *slog.Logger) Parts {
	entropy := system.Entropy{}
	p := Parts{
		UnitOfWork: stores.Postgres, Changes: stores.Changes, Due: stores.Postgres, Clock: clock, Entropy: entropy, After: time.After,
		Targets:     webhook.NewTargetCheck(cfg.WebhookAllowInsecureTargets),
		Epoch:       func() ports.Epoch { return ports.Epoch{} },
		Idempotency: func(idempotent.Result) {}, LimiterFailedOpen: func() {}, Log: log,
	}
	p.setPayments(cfg, stores)
	return p
}

// Services are all use cases.
type Services struct {
	Partners    *partners.Service
	Clients     *clients.Service
	Deposits    *deposits.Service
	Webhooks    *webhooks.Service
	Checkout    *checkout.Service
	Payments    *payments.Service
	Timers      *timers.Service
	Connections *connections.Service
	Operators   *operators.Service
	Restore     *restore.Service
	Outbox      *outbox.Service
	Idempotent  *idempotent.Executor
	Limiter     ports.Limiter
}

// NewServices builds all use cases over one set of stores.
func NewServices(cfg config.Config, stores Stores, p Parts) Services {
	store := stores.Postgres
	cache := redisadapter.NewIdempotencyCache(stores.Redis, stores.Breaker, stores.Cipher, p.Log)
	limiter := redisadapter.NewLimiter(stores.Redis, stores.Breaker, p.LimiterFailedOpen)
	s := Services{
		Idempotent: idempotent.New(idempotent.Deps{UnitOfWork: p.UnitOfWork, Changes: p.Changes, Cache: cache, Epoch: p.Epoch, Entropy: p.Entropy, Count: p.Idempotency}),
		Limiter:    limiter,
		Partners: partners.New(partners.Deps{
			UnitOfWork: p.UnitOfWork, Partners: store, APIKeys: store, Links: store, Limiter: limiter,
			Clock: p.Clock, Entropy: p.Entropy, Environment: cfg.Environment,
			Limits: partners.Limits{PerMinute: cfg.RateLimitPerMinute, WritesPerMinute: cfg.RateLimitWritesPerMinute},
		}),
		Connections: connections.New(connections.Deps{
			UnitOfWork: p.UnitOfWork, Partners: store, Operators: store, Links: store, Passwords: p.Passwords, Limiter: limiter,
			Clock: p.Clock, Entropy: p.Entropy, Environment: cfg.Environment, DashboardURL: cfg.DashboardBaseURL,
		}),
		Restore: restore.New(restore.Deps{UnitOfWork: p.UnitOfWork, Clock: p.Clock, Entropy: p.Entropy}),
		Operators: operators.New(operators.Deps{
			UnitOfWork: p.UnitOfWork, Operators: store, Passwords: p.Passwords, Limiter: limiter, Clock: p.Clock, Entropy: p.Entropy,
		}),
		Payments: payments.New(payments.Deps{
			UnitOfWork: p.UnitOfWork, Deposits: store, Payments: store, Provider: p.Provider, Simulator: p.Simulator,
			Clock: p.Clock, Entropy: p.Entropy, Metrics: p.DepositMetrics, Log: p.Log, Timers: cfg.Timers(), DashboardURL: cfg.DashboardBaseURL,
		}),
	}
	s.Outbox = outbox.New(outbox.Deps{UnitOfWork: p.UnitOfWork, SetAside: store, Clock: p.Clock, Entropy: p.Entropy})
	s.Checkout = checkout.New(checkout.Deps{
		UnitOfWork: p.UnitOfWork, Deposits: store, Accounts: store, Payments: s.Payments, Scoring: p.Scoring, Clock: p.Clock, Entropy: p.Entropy,
	})
	s.Timers = timers.New(timers.Deps{
		UnitOfWork: p.UnitOfWork, Due: p.Due, Payments: s.Payments, Clock: p.Clock, Entropy: p.Entropy, Metrics: p.DepositMetrics, Log: p.Log,
		Timers: cfg.Timers(),
	})
	if p.Settler == nil {
		p.Settler = s.Payments
	}
	s.Clients = clients.New(clients.Deps{Idempotent: s.Idempotent, Clients: store, Links: store, Clock: p.Clock, Entropy: p.Entropy})
	s.Deposits = deposits.New(deposits.Deps{
		Idempotent: s.Idempotent, Deposits: store, Settler: p.Settler, Metrics: p.DepositMetrics, Clock: p.Clock, Entropy: p.Entropy,
		Timers: cfg.Timers(), DashboardURL: cfg.DashboardBaseURL,
	})
	s.Webhooks = webhooks.New(webhooks.Deps{
		UnitOfWork: p.UnitOfWork, Idempotent: s.Idempotent, Subscriptions: store, Deliveries: store, Replays: store, Targets: p.Targets, Doorbell: p.Doorbell,
		Clock: p.Clock, Entropy: p.Entropy, After: p.After, AllowInsecure: cfg.WebhookAllowInsecureTargets,
	})
	return s
}
