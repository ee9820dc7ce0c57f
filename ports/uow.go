package ports

import "context"

// Repositories is everything that one transaction may touch. There is no HTTP, Redis or mail in it:
// what has to happen outside is written to Outbox or Mails and happens after the commit.
type Repositories struct {
	Partners      PartnerRepository
	Operators     OperatorRepository
	Links         LinkRepository
	Clients       ClientRepository
	Deposits      DepositRepository
	Payments      PaymentRepository
	Subscriptions SubscriptionRepository
	Deliveries    DeliveryRepository
	Replays       ReplayRepository
	Outbox        Outbox
	Idempotency   IdempotencyRepository
	Mails         MailQueue
	Audit         AuditLog
}

// UnitOfWork commits when fn returns nil and rolls back otherwise.
type UnitOfWork interface {
	// WithinTx runs fn in one transaction. fn may run more than once (serialization failures and deadlocks are tried
	// again, with jitter), so it touches nothing but repos. After a commit that wrote to Outbox the doorbell is rung.
	//
	// Returns what fn returned, or service_unavailable when the database cannot be reached in time.
	WithinTx(ctx context.Context, fn func(ctx context.Context, repos Repositories) error) error
	// WithinGroup is WithinTx for frequent work: it may commit in one transaction with that of other callers who come at
	// the same time, which costs each a fraction. fn cannot tell: what it reads is committed or its own, what it locks is
	// its own, and its error undoes it alone. It may run once more, in a transaction of its own, for what groups do not
	// share: they share locking and moving deposits, inserting them, reading links and clients, Outbox and Idempotency.
	WithinGroup(ctx context.Context, fn func(ctx context.Context, repos Repositories) error) error
}
