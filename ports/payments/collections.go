package payments

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// CollectionFilter narrows a list of collections; zero fields do not narrow.
type CollectionFilter struct {
	State deposit.CollectionState // "": every state but paid
	Limit int
}

// TenantNoticeKind is what a tenant is told by mail.
type TenantNoticeKind string

// The kinds of notices to tenants.
const (
	TenantCaptured  TenantNoticeKind = "captured" // how much is charged, for what and when
	TenantAwaited   TenantNoticeKind = "awaiting" // the card was refused; the link to pay
	TenantPaid      TenantNoticeKind = "paid"
	TenantRefunded  TenantNoticeKind = "refunded"
	TenantDebtEnded TenantNoticeKind = "ended" // the operator ended the debt: nothing is due any more
)

// TenantNoticeKinds lists every kind of notices to tenants.
var TenantNoticeKinds = []TenantNoticeKind{TenantCaptured, TenantAwaited, TenantPaid, TenantRefunded, TenantDebtEnded}

// TenantNotice says that a tenant is to be told something.
type TenantNotice struct {
	SubjectID id.ID // the payment; the refund of TenantRefunded
	Kind      TenantNoticeKind
	DepositID id.ID
	At        time.Time
}

// Collections keeps debts and their history. The row of a debt begins with the payment of its collection.
type Collections interface {
	// Lock locks and gives the debt of a payment, which the transaction has locked before. Returns
	// deposit.ErrNoCollection.
	Lock(ctx context.Context, paymentID id.ID) (deposit.Debt, error)
	// Save stores a debt and adds steps to its history. Returns ErrStale, from Save or a later call, if a step of that
	// number exists.
	Save(ctx context.Context, d deposit.Debt, steps ...deposit.CollectionTransition) error
	// Debts gives the newest debt of each of the deposits that has one.
	Debts(ctx context.Context, depositIDs []id.ID) (map[id.ID]deposit.Debt, error)
	// ListCollections gives debts, oldest capture first.
	ListCollections(ctx context.Context, f CollectionFilter) ([]deposit.Debt, error)
	// CollectionHistory gives the history of a debt, oldest first.
	CollectionHistory(ctx context.Context, paymentID id.ID) ([]deposit.CollectionTransition, error)
}

// Refunds keeps refunds.
type Refunds interface {
	// Payment locks and gives a payment with its refunds, oldest first. Returns deposit.ErrNoCollection for an unknown
	// payment.
	Payment(ctx context.Context, paymentID id.ID) (deposit.Payment, []deposit.Refund, error)
	// Insert adds a refund before the provider is called.
	Insert(ctx context.Context, r deposit.Refund) error
	// Settle stores Status, ProviderRef, Failure, CheckAt and SettledAt of a pending refund. ok is false if it is not
	// pending any more.
	Settle(ctx context.Context, r deposit.Refund) (ok bool, err error)
	// Refunds gives the refunds of a deposit's payments, oldest first.
	Refunds(ctx context.Context, depositID id.ID) ([]deposit.Refund, error)
	// RefundsToCheck gives pending refunds with CheckAt not after at, oldest first. The call also moves CheckAt ahead,
	// as Payments.PaymentsToCheck does.
	RefundsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Refund, error)
}

// TenantNotices keeps what tenants are to be told by mail.
type TenantNotices interface {
	// Add notes that a tenant is to be told. A notice that waits already is left as it is.
	Add(ctx context.Context, n TenantNotice) error
	// Take removes a notice. ok is false when another dispatcher has taken it. The mail commits with the taking.
	Take(ctx context.Context, n TenantNotice) (ok bool, err error)
	// TenantNoticesDue gives up to limit notices, oldest first.
	TenantNoticesDue(ctx context.Context, limit int) ([]TenantNotice, error)
}
