package wire

import (
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/files"
	"partnerdeposits/adapters/postgres"
	redisadapter "partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/system"
	"partnerdeposits/adapters/totp"
	"partnerdeposits/adapters/webhook"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/app/deposits/timers"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/partners/clients"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/payments/books"
	"partnerdeposits/app/payments/notices"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/platform/restore"
	"partnerdeposits/app/support"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/app/webhooks/outbox"
	"partnerdeposits/cmd/config"
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

	Waiting *events.Waiting // requests that wait for events

	Codes     ports.OneTimeCodes
	Passwords ports.Passwords // nil in processes without a log-in: DefaultParts leaves them out, since a hasher costs 19 MiB
	Cleaner   ports.FileCleaner
	Targets   ports.TargetCheck
	Scoring   ports.Scoring
	Provider  ports.PaymentProvider
	Simulator ports.PaymentSimulator // nil where payments are real
	ProviderPorts
	PayPage func(fiber.Router)     // mounts the provider's payment page; nil where the provider serves its own
	Settler deposits.Settler       // nil: the service Payments
	Due     ports.DepositScheduler // finds the deposits whose timers have run out: the store

	DepositMetrics    ports.DepositMetrics    // nil in processes that change no deposit
	PaymentMetrics    ports.PaymentMetrics    // nil: nothing is counted
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
		Waiting:     events.NewWaiting(),
		Codes:       totp.Codes{},
		Cleaner:     files.New(),
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
	Desk        *desk.Service
	Webhooks    *webhooks.Service
	Events      *events.Service
	Checkout    *checkout.Service
	Payments    *payments.Service
	Timers      *timers.Service
	Connections *connections.Service
	Operators   *operators.Service
	Restore     *restore.Service
	Outbox      *outbox.Service
	Support     *support.Service
	Notices     *notices.Service
	Books       *books.Service
	Idempotent  *idempotent.Executor
	Limiter     ports.Limiter
}

// NewServices builds all use cases over one set of stores.
func NewServices(cfg config.Config, stores Stores, p Parts) Services {
	store, contents := stores.Postgres, postgres.NewFileContents(stores.Postgres)
	limiter := redisadapter.NewLimiter(stores.Redis, stores.Breaker, p.LimiterFailedOpen)
	cache := redisadapter.NewIdempotencyCache(limiter, stores.Cipher, p.Log)
	s := Services{
		Idempotent: idempotent.New(idempotent.Deps{UnitOfWork: p.UnitOfWork, Changes: p.Changes, Cache: cache, Epoch: p.Epoch, Count: p.Idempotency}),
		Limiter:    limiter,
		Partners: partners.New(partners.Deps{
			UnitOfWork: p.UnitOfWork, Partners: store, APIKeys: store, Links: store, Limiter: limiter,
			Clock: p.Clock, Entropy: p.Entropy, Environment: cfg.Environment,
			Limits: partners.Limits{PerMinute: cfg.RateLimitPerMinute, WritesPerMinute: cfg.RateLimitWritesPerMinute},
		}),
		Connections: connections.New(connections.Deps{
			UnitOfWork: p.UnitOfWork, Partners: store, Operators: store, TwoFactors: store, Codes: p.Codes, Links: store, Passwords: p.Passwords, Limiter: limiter,
			Clock: p.Clock, Entropy: p.Entropy, Environment: cfg.Environment, DashboardURL: cfg.DashboardBaseURL, VerifyAddresses: cfg.VerifiesAddresses(),
		}),
		Restore: restore.New(restore.Deps{UnitOfWork: p.UnitOfWork, Clock: p.Clock, Entropy: p.Entropy}),
		Operators: operators.New(operators.Deps{
			UnitOfWork: p.UnitOfWork, Operators: store, Notices: store, TwoFactors: store, Codes: p.Codes, Tokens: store, Passwords: p.Passwords, Limiter: limiter,
			Clock: p.Clock, Entropy: p.Entropy,
			DashboardURL: cfg.DashboardBaseURL, VerifyAddresses: cfg.VerifiesAddresses(), SessionIdle: cfg.SessionIdle,
		}),
		Payments: newPayments(cfg, store, p),
	}
	s.Events = events.New(events.Deps{Events: store, Feeds: store, Waiting: p.Waiting, After: p.After})
	s.Support = support.New(support.Deps{
		Found: store, People: store, Events: store, Audit: store, Deposits: store, Payments: store, Operators: store, Links: store, Partners: store, Agreements: store,
	})
	s.Outbox = outbox.New(outbox.Deps{UnitOfWork: p.UnitOfWork, SetAside: store, Clock: p.Clock, Entropy: p.Entropy})
	s.Checkout = newCheckout(cfg, store, p, s.Payments)
	s.Notices = notices.New(notices.Deps{
		UnitOfWork: p.UnitOfWork, Questions: store, Notices: p.Notices, Books: p.Books, Payments: s.Payments, Clock: p.Clock, Entropy: p.Entropy,
		DashboardURL: cfg.DashboardBaseURL, Anyone: !cfg.VerifiesAddresses(),
	})
	s.Books = books.New(books.Deps{Ours: store, Theirs: p.Books, Runs: store, Clock: p.Clock, Log: p.Log})
	s.Timers = timers.New(timers.Deps{
		UnitOfWork: p.UnitOfWork, Due: p.Due, Payments: s.Payments, Clock: p.Clock, Entropy: p.Entropy, Metrics: p.DepositMetrics, Log: p.Log,
		Timers: cfg.Timers(),
	})
	if p.Settler == nil {
		p.Settler = s.Payments
	}
	s.Clients = clients.New(clients.Deps{
		UnitOfWork: p.UnitOfWork, Idempotent: s.Idempotent, Clients: store, Deposits: store, Texts: store, Links: store, Files: store, Contents: contents,
		Clock: p.Clock, Entropy: p.Entropy,
	})
	s.Deposits = deposits.New(deposits.Deps{
		Idempotent: s.Idempotent, Deposits: store, Collections: store, Schedule: cfg.CollectionSchedule(), LeastCharge: p.Provider.LeastCharge(),
		Settler: p.Settler, Metrics: p.DepositMetrics, Clock: p.Clock, Entropy: p.Entropy, Accounts: store, UnitOfWork: p.UnitOfWork, TwoFactors: store, Codes: p.Codes, Timers: cfg.Timers(), DashboardURL: cfg.DashboardBaseURL, VerifiedOnly: cfg.VerifiesAddresses(),
		Files: store, Contents: contents, Cleaner: p.Cleaner, Imprint: cfg.Imprint(),
	})
	s.Desk = desk.New(desk.Deps{
		Desk: store, Deposits: store, Found: store, Collections: store, Audit: store, Files: store, Contents: contents, Agreements: store, Disputes: store, Clock: p.Clock, Timers: cfg.Timers(),
	})
	s.Webhooks = webhooks.New(webhooks.Deps{
		UnitOfWork: p.UnitOfWork, Idempotent: s.Idempotent, Subscriptions: store, Deliveries: store, Replays: store, Targets: p.Targets, Doorbell: p.Doorbell,
		Clock: p.Clock, Entropy: p.Entropy, After: p.After, Allowed: cfg.WebhookTargets(),
	})
	return s
}

// newPayments builds the use cases that move money.
func newPayments(cfg config.Config, store *postgres.Store, p Parts) *payments.Service {
	return payments.New(payments.Deps{
		UnitOfWork: p.UnitOfWork, Deposits: store, Payments: store, Collections: store, Provider: p.Provider, Simulator: p.Simulator,
		Clock: p.Clock, Entropy: p.Entropy, Metrics: p.DepositMetrics, PaymentMetrics: p.PaymentMetrics, Log: p.Log, Timers: cfg.Timers(),
		Schedule: cfg.CollectionSchedule(), DashboardURL: cfg.DashboardBaseURL,
	})
}

// newCheckout builds the use cases of the tenant's pages.
func newCheckout(cfg config.Config, store *postgres.Store, p Parts, money *payments.Service) *checkout.Service {
	return checkout.New(checkout.Deps{
		UnitOfWork: p.UnitOfWork, Deposits: store, Clients: store, Accounts: store, Payments: money, Debts: money, Paid: store, Scoring: p.Scoring, Clock: p.Clock, Entropy: p.Entropy,
		Timers: cfg.Timers(), Imprint: cfg.Imprint(),
	})
}
