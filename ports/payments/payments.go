package payments

import (
	"context"
	"errors"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// Errors of these ports. No caller of the API sees them.
var (
	// ErrPaymentExists: the deposit has a payment of the same kind that is processing or succeeded.
	ErrPaymentExists = errors.New("ports: the deposit has a payment of this kind")
	// ErrProviderAway: the payment provider, and not this service, failed. The tenant's pages say so.
	ErrProviderAway = errors.New("ports: the payment provider failed")
	// ErrProviderAnswered: the payment provider has read a request and refused it. The call failed, and the provider
	// works.
	ErrProviderAnswered = errors.New("ports: the payment provider refused a request")
)

// PaymentSimulator pays at the provider's page in place of the tenant. Only the sandbox provider implements this
// interface.
type PaymentSimulator interface {
	// SimulatePayment ends an open payment, like a card that is accepted or refused. A payment that has ended stays
	// unchanged.
	SimulatePayment(ctx context.Context, paymentID id.ID, succeeds bool) error
}

// HostedPayment is a request for a hosted page.
type HostedPayment struct {
	PaymentID   id.ID
	DepositID   id.ID
	Kind        deposit.PaymentKind // the page of a fee saves the card for a collection
	Amount      money.Cents
	Description string // what is paid, on the page and on the receipt; 250 characters at most
	Email       string
	Locale      string
	ReturnURL   string // target of the browser after the page, paid or not; the same in every call for a payment
	// EndsAt is the end of the time in which the page may be paid; zero for none. A provider that can end a page by
	// itself does so then, or as soon afterwards as it can. The service closes the page in any case.
	EndsAt time.Time
}

// HostedPage is the page on which the tenant pays.
type HostedPage struct {
	Ref string // the provider's id of the payment
	URL string
}

// CollectRequest asks for a charge of the card that paid the fee.
type CollectRequest struct {
	PaymentID    id.ID // the payment of kind collection
	FeePaymentID id.ID // the payment that stored the card
	DepositID    id.ID
	Amount       money.Cents
	Description  string
	Attempt      int // counts from 1; stored before the call
}

// RefundRequest asks for money to be given back to the tenant.
type RefundRequest struct {
	RefundID  id.ID // stored before the call
	PaymentID id.ID
	DepositID id.ID
	Amount    money.Cents
}

// ProviderStatus is the status of a payment at the provider.
type ProviderStatus string

// The statuses of a payment at the provider.
const (
	ProviderUnknown   ProviderStatus = "unknown"
	ProviderOpen      ProviderStatus = "open" // the page waits for the tenant
	ProviderSucceeded ProviderStatus = "succeeded"
	ProviderFailed    ProviderStatus = "failed"
	ProviderClosed    ProviderStatus = "closed" // was not paid and can no longer be paid
)

// ProviderStatuses lists every status of a payment at the provider.
var ProviderStatuses = []ProviderStatus{ProviderUnknown, ProviderOpen, ProviderSucceeded, ProviderFailed,
	ProviderClosed}

// ProviderPayment is a payment in the books of the provider.
type ProviderPayment struct {
	Status  ProviderStatus
	Ref     string
	Failure string  // a code such as insufficient_funds, never a text of the provider
	Refusal Refusal // of a collection that failed; empty otherwise
	// PaidAt is when the tenant paid a fee, by the provider's clock; zero for every other payment. A provider that does
	// not tell leaves it zero, and the fee counts from when the service hears of it: never earlier than it was paid.
	PaidAt time.Time
}

// Refusal is the class of a refused charge: what may be tried next.
type Refusal string

// The classes of refusals.
const (
	RefusedForNow    Refusal = "later"  // the same card may be charged some days later
	RefusedForTenant Refusal = "tenant" // the tenant has to authenticate or to choose another card
	RefusedForGood   Refusal = "never"  // the card must not be charged again; the tenant may choose another card
)

// Refusals lists every class of refusals.
var Refusals = []Refusal{RefusedForNow, RefusedForTenant, RefusedForGood}

// RefundStatus is the status of a refund at the provider.
type RefundStatus string

// The statuses of a refund at the provider.
const (
	RefundPending   RefundStatus = "pending"
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed" // will never be paid out
)

// RefundStatuses lists every status of a refund at the provider.
var RefundStatuses = []RefundStatus{RefundPending, RefundSucceeded, RefundFailed}

// ProviderRefund is a refund in the books of the provider.
type ProviderRefund struct {
	Status  RefundStatus
	Ref     string
	Failure string // a code such as amount_too_large
}

// Payments keeps payments.
type Payments interface {
	// Insert adds a payment before the provider is called. Returns ErrPaymentExists if the deposit has a payment of the
	// same kind that is processing or succeeded. The transaction stays usable after such an error.
	Insert(ctx context.Context, p deposit.Payment) error
	// Processing locks and gives the payment of a deposit and a kind that is processing; nil for none.
	Processing(ctx context.Context, depositID id.ID, kind deposit.PaymentKind) (*deposit.Payment, error)
	// Update stores Status, ProviderRef, Failure, Attempts, CheckAt and SettledAt.
	Update(ctx context.Context, p deposit.Payment) error
	// PaymentsToCheck gives processing payments with CheckAt not after at, oldest first. The call also moves CheckAt
	// ahead, so that two dispatchers do not ask the provider about the same payment at the same time.
	PaymentsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Payment, error)
	// Payments lists the payments of a deposit, oldest first.
	Payments(ctx context.Context, depositID id.ID) ([]deposit.Payment, error)
}

// PaymentProvider is the part of PaymentProvider about the hosted page of a payment.
type PaymentProvider interface {
	// Open makes the hosted page of a payment, or gives the existing page. The URL of a page that can no longer be paid
	// leads to ReturnURL. For a collection, Open first ends the provider's own charge of the amount, and replaces a
	// page that has expired unpaid by another.
	Open(ctx context.Context, r HostedPayment) (HostedPage, error)
	// Lookup gives the present state of a payment. A payment that the provider does not know is ProviderUnknown.
	Lookup(ctx context.Context, paymentID id.ID) (ProviderPayment, error)
	// Close makes sure that the payment can never be paid, and gives its state. A payment that succeeded before the
	// call stays succeeded. A payment that the provider does not know can never be paid afterwards either.
	Close(ctx context.Context, paymentID id.ID) (ProviderPayment, error)
	// Collect charges the card that secured the deposit, without the tenant, after it has ended the tenant's page of
	// the payment, if any. A second call of the same attempt gives the first answer; a call of a later attempt charges
	// again, unless the payment has succeeded or was closed.
	Collect(ctx context.Context, r CollectRequest) (ProviderPayment, error)
	// Refund gives back a part of a payment that has succeeded, or all of it. A second call gives the state of the same
	// refund.
	Refund(ctx context.Context, r RefundRequest) (ProviderRefund, error)
	// LeastCharge is the smallest amount that can be charged to a card.
	LeastCharge() money.Cents
}
