package payments

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// CollectionFilter narrows a list of collections; zero fields do not narrow.
type CollectionFilter struct {
	State deposit.CollectionState // The state of the listed collections; "": every state but paid.
	Limit int
}

// TenantNoticeKind is the subject of a mail to a tenant.
type TenantNoticeKind string

// The kinds of notices that tenants get by mail.
const (
	TenantNoticeCaptured    TenantNoticeKind = "captured"
	TenantNoticeCardRefused TenantNoticeKind = "awaiting"
	TenantNoticePaid        TenantNoticeKind = "paid"
	TenantNoticeRefunded    TenantNoticeKind = "refunded"
	// The notice that the operator ended the debt, and that the tenant owes nothing any more.
	TenantNoticeDebtEnded TenantNoticeKind = "ended"
)

// TenantNoticeKinds lists every kind of notices to tenants.
var TenantNoticeKinds = []TenantNoticeKind{TenantNoticeCaptured, TenantNoticeCardRefused, TenantNoticePaid,
	TenantNoticeRefunded, TenantNoticeDebtEnded}

// TenantMailNotice is a notice that a tenant is to get by mail.
type TenantMailNotice struct {
	SubjectID id.ID
	Kind      TenantNoticeKind
	DepositID id.ID
	At        time.Time
}

// CollectionStore stores debts, the captured amounts that tenants owe, with their history. The row of a debt is
// inserted together with the payment that collects it.
type CollectionStore interface {
	// LockDebt locks and returns the debt of a payment, which the transaction has locked before, or
	// deposit.ErrNoCollection.
	LockDebt(ctx context.Context, paymentID id.ID) (deposit.Debt, error)
	// Save stores a debt and adds changes of its state to its history. Returns ErrStaleVersion, also from a later
	// call, if another transaction changed the debt.
	Save(ctx context.Context, d deposit.Debt, steps ...deposit.CollectionTransition) error
	Debts(ctx context.Context, depositIDs []id.ID) (map[id.ID]deposit.Debt, error)
	ListCollections(ctx context.Context, f CollectionFilter) ([]deposit.Debt, error)
	CollectionHistory(ctx context.Context, paymentID id.ID) ([]deposit.CollectionTransition, error)
}

// RefundStore stores the refunds of payments.
type RefundStore interface {
	// LockPayment locks and returns a payment with its refunds, oldest first. Returns deposit.ErrNoCollection for an
	// unknown payment.
	LockPayment(ctx context.Context, paymentID id.ID) (deposit.Payment, []deposit.Refund, error)
	Insert(ctx context.Context, r deposit.Refund) error
	// Settle stores Status, ProviderRef, Failure, CheckAt and SettledAt of a pending refund. ok reports whether they
	// were stored.
	Settle(ctx context.Context, r deposit.Refund) (ok bool, err error)
	Refunds(ctx context.Context, depositID id.ID) ([]deposit.Refund, error)
	// RefundsToCheck returns up to limit pending refunds whose next check (CheckAt) is due at the time at, oldest
	// first, and moves CheckAt ahead for other dispatchers.
	RefundsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Refund, error)
}

// TenantNoticeStore stores the notices that tenants are to get by mail.
type TenantNoticeStore interface {
	Add(ctx context.Context, n TenantMailNotice) error
	// Take removes a notice to a tenant, whose mail commits in the same transaction. ok reports whether the notice
	// was removed.
	Take(ctx context.Context, n TenantMailNotice) (ok bool, err error)
	TenantNoticesDue(ctx context.Context, limit int) ([]TenantMailNotice, error)
}
