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
}
