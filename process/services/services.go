// Package services builds all use cases over open stores, for processes, commands and tests.
package services

import (
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/files"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/system"
	"partnerdeposits/adapters/totp"
	"partnerdeposits/adapters/webhook"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/app/deposits/lifecycle"
	"partnerdeposits/app/deposits/timers"
	"partnerdeposits/app/partners"
	"partnerdeposits/app/partners/clients"
	"partnerdeposits/app/payments"
	"partnerdeposits/app/payments/books"
	"partnerdeposits/app/payments/callbacks"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/support"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/events"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
)

// Deps holds everything that the use cases need except the database. Tests replace some parts.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Changes    ports.ChangeApplier
	// The sender of wake-up notifications to dispatchers; nil in commands, which use no use case that sends them.
	Doorbell ports.Doorbell
	Clock    ports.Clock
	Entropy  ports.Entropy
	// The rate limiter and the cache of stored responses, both on Redis; nil in commands, whose use cases need
	// neither.
	Limiter ports.Limiter
	Cache   ports.IdempotencyCache

	// The function that returns a channel after a wait: time.After, or a test's replacement.
	After func(time.Duration) <-chan time.Time

	Waiting *events.WaitingRequests // The HTTP requests that wait for new events of a partner.

	Codes accountports.OneTimeCodes
	// The hasher of passwords; nil in processes without a log-in, since a hasher takes 19 MiB of memory.
	Passwords accountports.PasswordHasher
	Cleaner   depositports.FileSanitizer
	Targets   webhookports.TargetHostChecker
	Scoring   depositports.TenantScorer
	Provider  paymentports.PaymentProvider
	Simulator paymentports.PaymentSimulator // The simulator of payments; nil if payments are real.
	ProviderPorts
	// A function that mounts the provider's payment page on a router; nil if the provider serves its own page.
	PayPage func(fiber.Router)
	// A function that wraps the payments service that other modules call, to observe or change the calls; nil: it
	// is not wrapped.
	AroundPayments func(PaymentService) PaymentService
	Clients        partnerports.ClientStore
	Deliveries     webhookports.DeliveryStore
	Keys           ports.IdempotencyStore
	Due            depositports.DueDepositFinder

	DepositMetrics depositports.DepositMetrics // The metrics of deposits; nil in processes that change no deposit.
	PaymentMetrics paymentports.PaymentMetrics // The metrics of payments; nil: they are not counted.
	// A function that returns the id of the present restore epoch, the time since the last restore from a backup;
	// the zero id in processes that serve no requests with idempotency keys.
	Epoch       func() ports.RestoreEpoch
	Idempotency func(idempotent.Result)

	Log *slog.Logger
}

func DefaultDeps(cfg config.Config, stores Stores, clock ports.Clock, log *slog.Logger) Deps {
	entropy := system.Entropy{}
	p := Deps{
		UnitOfWork: stores.Postgres, Changes: stores.Changes, Due: stores.Postgres.Due,
		Clients: stores.Postgres.Clients, Deliveries: stores.Postgres.Deliveries, Keys: stores.Postgres.Idempotency,
		Clock: clock, Entropy: entropy, After: time.After,
		Waiting:     events.NewWaitingRequests(),
		Codes:       totp.CodeGenerator{},
		Cleaner:     files.New(),
		Targets:     webhook.NewTargetCheck(cfg.WebhookAllowInsecureTargets),
		Epoch:       func() ports.RestoreEpoch { return ports.RestoreEpoch{} },
		Idempotency: func(idempotent.Result) {}, Log: log,
	}
	p.setPayments(cfg, stores)
	return p
}

// PaymentService is the interface through which other modules charge tenants and give money back.
type PaymentService interface {
	deposits.PaymentService
	checkout.FeePayments
	checkout.DebtPayments
}

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
	Restore     *idempotent.DatabaseRestoreFinisher
	Support     *support.Service
	Callbacks   *callbacks.Service
	Books       *books.Service
	Idempotent  *idempotent.Executor
	Limiter     ports.Limiter
}

func New(cfg config.Config, stores Stores, p Deps) Services {
	b := &builder{cfg: cfg, store: stores.Postgres, parts: p}
	b.once = idempotent.New(idempotent.Deps{
		UnitOfWork: p.UnitOfWork, Changes: p.Changes, Idempotency: p.Keys,
		Cache: p.Cache, Epoch: p.Epoch, Count: p.Idempotency,
	})
	b.journal = lifecycle.Journal{Deposits: b.store.Deposits, Links: b.store.Links, Outbox: b.store.Outbox}
	b.transitions = lifecycle.TransitionApplier{
		Journal: b.journal, UnitOfWork: p.UnitOfWork, Metrics: p.DepositMetrics, Entropy: p.Entropy,
		Timers: cfg.DepositTimerDurations(),
	}
	b.signIn = signin.New(signin.Deps{
		UnitOfWork: p.UnitOfWork, Operators: b.store.Operators, Sessions: b.store.Sessions, Tokens: b.store.Tokens,
		TwoFactors: b.store.TwoFactors, HalfSignIns: b.store.HalfSignIns, Mails: b.store.Mails, Audit: b.store.Audit,
		Passwords: p.Passwords, Codes: p.Codes, Entropy: p.Entropy, Limiter: b.parts.Limiter,
		DashboardURL: cfg.DashboardBaseURL, VerifyAddresses: cfg.VerifiesEmailAddresses(),
	})
	s := Services{Idempotent: b.once, Limiter: b.parts.Limiter}
	b.accounts(&s)
	b.partners(&s)
	b.payments(&s)
	b.deposits(&s)
	b.webhooks(&s)
	s.Restore = idempotent.NewDatabaseRestoreFinisher(idempotent.DatabaseRestoreFinisherDeps{
		UnitOfWork: p.UnitOfWork, Restores: b.store.Restores, Audit: b.store.Audit, Clock: p.Clock, Entropy: p.Entropy,
	})
	s.Support = support.New(support.Deps{
		Deposits: b.store.Deposits, Clients: b.store.Clients, Events: b.store.Events, Deliveries: b.store.Deliveries,
		Subscriptions: b.store.Subscriptions, Audit: b.store.Audit, Payments: b.store.Payments, Operators: b.store.Operators,
		Links: b.store.Links, Partners: b.store.Partners, Agreements: b.store.Agreements,
	})
	return s
}

type builder struct {
	cfg         config.Config
	store       *postgres.Store
	parts       Deps
	once        *idempotent.Executor
	journal     lifecycle.Journal
	transitions lifecycle.TransitionApplier
	signIn      signin.Parts
}

func (b *builder) accounts(s *Services) {
	p, store := b.parts, b.store
	s.Connections = connections.New(connections.Deps{
		UnitOfWork: p.UnitOfWork, SignIn: b.signIn, Partners: store.Partners, Operators: store.Operators, Links: store.Links,
		Signing: store.Subscriptions, Outbox: store.Outbox, Mails: store.Mails, Audit: store.Audit, Clock: p.Clock,
		Entropy:     p.Entropy,
		Environment: b.cfg.Environment, DashboardURL: b.cfg.DashboardBaseURL,
	})
	s.Operators = operators.New(operators.Deps{
		UnitOfWork: p.UnitOfWork, SignIn: b.signIn, Operators: store.Operators, Sessions: store.Sessions,
		TwoFactors: store.TwoFactors, HalfSignIns: store.HalfSignIns, Codes: p.Codes, Tokens: store.Tokens,
		Mails: store.Mails,
		Audit: store.Audit, Passwords: p.Passwords, Clock: p.Clock, Entropy: p.Entropy,
		DashboardURL: b.cfg.DashboardBaseURL, VerifyAddresses: b.cfg.VerifiesEmailAddresses(), SessionIdle: b.cfg.SessionIdle,
	})
}

func (b *builder) partners(s *Services) {
	p, store := b.parts, b.store
	s.Partners = partners.New(partners.Deps{
		UnitOfWork: p.UnitOfWork, Partners: store.Partners, Keys: store.Keys, Links: store.Links, Mails: store.Mails,
		Audit: store.Audit, Limiter: b.parts.Limiter, Clock: p.Clock, Entropy: p.Entropy, Environment: b.cfg.Environment,
		Limits: partners.RateLimits{PerMinute: b.cfg.RateLimitPerMinute, WritesPerMinute: b.cfg.RateLimitWritesPerMinute},
	})
	s.Clients = clients.New(clients.Deps{
		UnitOfWork: p.UnitOfWork, Idempotent: b.once, Clients: p.Clients, Addresses: store.Addresses,
		Deposits: store.Deposits, Texts: store.Texts, Links: store.Links, Files: store.Files, Contents: store.Contents,
		Audit: store.Audit, Clock: p.Clock, Entropy: p.Entropy,
	})
}

func (b *builder) payments(s *Services) {
	p, store := b.parts, b.store
	s.Payments = payments.New(payments.Deps{
		UnitOfWork: p.UnitOfWork, Transitions: b.transitions, Deposits: store.Deposits, Operators: store.Operators,
		Payments: store.Payments, Collections: store.Collections, Refunds: store.Refunds,
		TenantNotices: store.TenantNotices, OperatorNotices: store.OperatorNotices, Audit: store.Audit,
		Provider: p.Provider, Simulator: p.Simulator, Clock: p.Clock, Entropy: p.Entropy, PaymentMetrics: p.PaymentMetrics,
		Log:      p.Log,
		Schedule: b.cfg.CollectionSchedule(), DashboardURL: b.cfg.DashboardBaseURL,
	})
	s.Callbacks = callbacks.New(callbacks.Deps{
		UnitOfWork: p.UnitOfWork, Questions: store.Questions, Disputes: store.Disputes, Mails: store.Mails,
		Audit: store.Audit, Callbacks: p.Callbacks, Books: p.ProviderPorts.Books, Payments: s.Payments, Clock: p.Clock,
		Entropy: p.Entropy, DashboardURL: b.cfg.DashboardBaseURL, VerifyAddresses: b.cfg.VerifiesEmailAddresses(),
	})
	s.Books = books.New(books.Deps{
		Ours: store.Books, Theirs: p.ProviderPorts.Books, Runs: store.Books, Statements: store.Books, Clock: p.Clock,
		Log: p.Log,
	})
}

func (b *builder) deposits(s *Services) {
	p, store := b.parts, b.store
	var money PaymentService = s.Payments
	if p.AroundPayments != nil {
		money = p.AroundPayments(money)
	}
	s.Deposits = deposits.New(deposits.Deps{
		Idempotent: b.once, Journal: b.journal, Deposits: store.Deposits, Payments: money, Collections: store.Collections,
		Clients: p.Clients, Links: store.Links, Operators: store.Operators, Codes: b.signIn.Codes, Mails: store.Mails,
		Audit: store.Audit, Files: store.Files, Contents: store.Contents, Cleaner: p.Cleaner,
		Drafts: store.FormDrafts, Agreements: store.Agreements, Metrics: p.DepositMetrics,
		Clock: p.Clock, Entropy: p.Entropy, Timers: b.cfg.DepositTimerDurations(), LeastCharge: p.Provider.LeastCharge(),
		VerifyAddresses: b.cfg.VerifiesEmailAddresses(), DashboardURL: b.cfg.DashboardBaseURL, Imprint: b.cfg.Imprint(),
	})
	s.Checkout = checkout.New(checkout.Deps{
		UnitOfWork: p.UnitOfWork, Journal: b.journal, Deposits: store.Deposits, Clients: p.Clients,
		Operators: store.Operators, Payments: money, Debts: money, Paid: store.Payments,
		Agreements: store.Agreements, Mails: store.Mails, Scoring: p.Scoring, Clock: p.Clock, Entropy: p.Entropy,
		Timers: b.cfg.DepositTimerDurations(), Imprint: b.cfg.Imprint(),
	})
	s.Timers = timers.New(timers.Deps{
		Transitions: b.transitions, Due: p.Due, Payments: money, Clock: p.Clock, Log: p.Log,
		Timers: b.cfg.DepositTimerDurations(),
	})
	s.Desk = desk.New(desk.Deps{
		Desk: store.Desk, Deposits: store.Deposits, Collections: store.Collections, Refunds: store.Refunds,
		Audit: store.Audit, Files: store.Files, Contents: store.Contents, Agreements: store.Agreements,
		Disputes: store.Disputes, Clock: p.Clock, Timers: b.cfg.DepositTimerDurations(),
	})
}

func (b *builder) webhooks(s *Services) {
	p, store := b.parts, b.store
	s.Webhooks = webhooks.New(webhooks.Deps{
		UnitOfWork: p.UnitOfWork, Idempotent: b.once, Subscriptions: store.Subscriptions, Prober: store.Subscriptions,
		Connect: store.Partners, Signing: store.Subscriptions, Deliveries: p.Deliveries, Replays: store.Replays,
		SetAside: store.SetAside, Audit: store.Audit, Targets: p.Targets,
		Doorbell: p.Doorbell, Waiting: p.Waiting, Clock: p.Clock, Entropy: p.Entropy, After: p.After,
		Allowed: b.cfg.WebhookTargetRules(),
	})
	s.Events = events.New(events.Deps{Events: store.Events, Feeds: store.Events, Waiting: p.Waiting, After: p.After})
}
