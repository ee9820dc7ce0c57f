package ports

import "context"

// Repositories are the tables that a transaction reads and writes. A transaction calls neither HTTP nor Redis and sends no
// mail: events go to Outbox and mails to Mails, and are sent after the commit.
type Repositories struct {
	Partners        PartnerRepository
	Operators       OperatorRepository
	TwoFactors      TwoFactorRepository
	HalfSignIns     HalfSignInRepository
	Links           LinkRepository
	Clients         ClientRepository
	Deposits        DepositRepository
	Payments        PaymentRepository
	Collections     CollectionRepository
	Refunds         RefundRepository
	TenantNotices   TenantNoticeRepository
	Subscriptions   SubscriptionRepository
	Prober          Prober
	Deliveries      DeliveryRepository
	Replays         ReplayRepository
	Outbox          Outbox
	Idempotency     IdempotencyRepository
	Mails           MailQueue
	Notices         NoticeRepository
	OperatorNotices OperatorNoticeRepository
	Audit           AuditLog
	Restores        RestoreRepository
	Files           FileRepository
	Agreements      AgreementRepository
	Disputes        DisputeRepository
	PaymentErasures PaymentErasureRepository
}

// UnitOfWork runs functions in transactions.
type UnitOfWork interface {
	// WithinTx runs fn in a transaction, and commits if fn returns nil. After a serialization failure or a deadlock fn runs
	// again, so fn changes nothing outside repos. A commit that wrote to Outbox rings the doorbell.
	//
	// Returns the error of fn, or service_unavailable when the database cannot be reached in time.
	WithinTx(ctx context.Context, fn func(ctx context.Context, repos Repositories) error) error
}
