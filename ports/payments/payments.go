package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// Errors about payments and the payment provider. No caller of the API sees them.
var (
	// ErrPaymentExists is returned when a deposit already has a payment of the same kind that is processing or
	// succeeded: it refuses a second charge.
	ErrPaymentExists = errors.New("ports: the deposit has a payment of this kind")
	// ErrProviderUnreachable is the error for a failure of the payment provider, not of this service. The tenant's pages
	// name the provider as the cause.
	ErrProviderUnreachable = errors.New("ports: the payment provider failed")
	// ErrProviderRefused is the error for a request that the payment provider has read and refused. The call
	// failed, but the provider works.
	ErrProviderRefused = errors.New("ports: the payment provider refused a request")
)

// PaymentSimulator pays on the provider's page in place of the tenant.
type PaymentSimulator interface {
	// SimulatePayment ends an open payment as if the tenant had paid by card. A payment that has ended stays
	// unchanged.
	SimulatePayment(ctx context.Context, paymentID id.ID, succeeds bool) error
}

// HostedPageRequest is a request for a hosted page on which the tenant pays.
type HostedPageRequest struct {
	PaymentID id.ID
	DepositID id.ID
	// The kind of the payment; the page of a fee also saves the card for a collection.
	Kind        deposit.PaymentKind
	Amount      money.Cents
	Description string // What is paid, as the page and the receipt show it; at most 250 characters.
	Email       string
	Locale      string
	// The URL to which the page sends the browser afterwards, paid or not; the same in every call for a payment.
	ReturnURL string
	// EndsAt is the time until which the page may be paid; zero for no end. The service closes the page in any case.
	EndsAt time.Time
}

// HostedPage is the payment provider's page on which the tenant pays.
type HostedPage struct {
	Ref string
	URL string
}

// CollectRequest is a request to charge the card that paid the fee.
type CollectRequest struct {
	PaymentID    id.ID
	FeePaymentID id.ID
	DepositID    id.ID
	Amount       money.Cents
	Description  string
	Attempt      int // The number of the attempt, counted from 1; it is stored before the call.
}

// RefundRequest is a request to give money back to the tenant.
type RefundRequest struct {
	RefundID  id.ID
	PaymentID id.ID
	DepositID id.ID
	Amount    money.Cents
}

// ProviderPaymentStatus is the status of a payment at the payment provider.
type ProviderPaymentStatus string

// The statuses that a payment can have at the payment provider.
const (
	ProviderPaymentUnknown   ProviderPaymentStatus = "unknown"
	ProviderPaymentOpen      ProviderPaymentStatus = "open"
	ProviderPaymentSucceeded ProviderPaymentStatus = "succeeded"
	ProviderPaymentFailed    ProviderPaymentStatus = "failed"
	ProviderPaymentClosed    ProviderPaymentStatus = "closed"
)

// ProviderPaymentStatuses lists every status of a payment at the payment provider.
var ProviderPaymentStatuses = []ProviderPaymentStatus{ProviderPaymentUnknown, ProviderPaymentOpen,
	ProviderPaymentSucceeded,
	ProviderPaymentFailed,
	ProviderPaymentClosed}

// ProviderPayment is a payment as the payment provider has recorded it.
type ProviderPayment struct {
	Status ProviderPaymentStatus
	Ref    string
	// Why the payment failed, as a code such as insufficient_funds, never as a text of the provider.
	Failure string
	Refusal ChargeRefusalKind // How the bank refused a collection; empty for every other payment.
	// PaidAt is when the tenant paid a fee, by the provider's clock; zero for every other payment. It is also zero if
	// the provider does not report the time.
	PaidAt time.Time
}

// ChargeRefusalKind says how a bank refused a charge, which decides what may be tried next.
type ChargeRefusalKind string

// The ways in which a bank refuses a charge.
const (
	ChargeRefusedForNow          ChargeRefusalKind = "later"
	ChargeRefusedUntilTenantActs ChargeRefusalKind = "tenant"
	// The bank refused for good: the card must not be charged again; the tenant may choose another card.
	ChargeRefusedForGood ChargeRefusalKind = "never"
)

// ChargeRefusalKinds lists the ways in which a bank refuses a charge.
var ChargeRefusalKinds = []ChargeRefusalKind{ChargeRefusedForNow, ChargeRefusedUntilTenantActs, ChargeRefusedForGood}

// RefundStatus is the status of a refund at the payment provider.
type RefundStatus string

// The statuses of a refund at the payment provider.
const (
	RefundPending   RefundStatus = "pending"
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed"
)

// RefundStatuses lists every status of a refund at the payment provider.
var RefundStatuses = []RefundStatus{RefundPending, RefundSucceeded, RefundFailed}

// ProviderRefund is a refund as the payment provider has recorded it.
type ProviderRefund struct {
	Status  RefundStatus
	Ref     string
	Failure string // Why the refund failed, as a code such as amount_too_large.
}

// PaymentStore stores the payments of deposits: fees and collections.
type PaymentStore interface {
	// Insert stores a new payment before the provider is called. Returns ErrPaymentExists if the deposit has a
	// payment of the same kind that is processing or succeeded. The transaction stays usable after such an error.
	Insert(ctx context.Context, p deposit.Payment) error
	// LockProcessing locks and returns the payment of a kind, fee or collection, of a deposit that is still
	// processing; nil for none.
	LockProcessing(ctx context.Context, depositID id.ID, kind deposit.PaymentKind) (*deposit.Payment, error)
	Update(ctx context.Context, p deposit.Payment) error
	// PaymentsToCheck returns up to limit processing payments whose next check (CheckAt) is due at the time at,
	// oldest first, and moves CheckAt ahead for other dispatchers.
	PaymentsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Payment, error)
	Payments(ctx context.Context, depositID id.ID) ([]deposit.Payment, error)
}

// PaymentProvider makes payments at the payment provider: hosted pages, charges of a stored card, and refunds.
type PaymentProvider interface {
	// OpenPage makes the provider's page on which a payment is paid, or returns the page that exists. For a
	// collection, OpenPage first ends the provider's charge of the card, and replaces a page that has expired unpaid.
	OpenPage(ctx context.Context, r HostedPageRequest) (HostedPage, error)
	// LookupPayment returns the present state of a payment at the provider. A payment that the provider does not have is
	// ProviderPaymentUnknown.
	LookupPayment(ctx context.Context, paymentID id.ID) (ProviderPayment, error)
	// ClosePayment makes sure that a payment can never be paid, and returns its state. A payment that succeeded before the
	// call stays succeeded. A payment that the provider does not have can never be paid afterwards either.
	ClosePayment(ctx context.Context, paymentID id.ID) (ProviderPayment, error)
	// ChargeStoredCard charges the card that secured the deposit, without the tenant, after it has ended the tenant's
	// hosted page of the payment, if any. A second call for the same attempt returns the first answer; a call for a later
	// attempt charges again, unless the payment has succeeded or was closed.
	ChargeStoredCard(ctx context.Context, r CollectRequest) (ProviderPayment, error)
	// Refund gives back a payment that has succeeded, in part or in full. A second call returns the state of the
	// same refund.
	Refund(ctx context.Context, r RefundRequest) (ProviderRefund, error)
	LeastCharge() money.Cents
}
