package ports

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// PaymentRepository writes payments.
type PaymentRepository interface {
	// Insert commits the intention to pay. ErrPaymentUnderWay when one of that kind is processing already, or has
	// succeeded; the transaction stays usable.
	Insert(ctx context.Context, p deposit.Payment) error
	// UnderWay locks and gives the deposit's processing payment of that kind; nil where there is none.
	UnderWay(ctx context.Context, depositID id.ID, kind deposit.PaymentKind) (*deposit.Payment, error)
	// Update stores status, provider reference, failure, attempts, check and settle time.
	Update(ctx context.Context, p deposit.Payment) error
}

// PaymentReader finds payments for the reconciler.
type PaymentReader interface {
	// PaymentsToCheck gives payments left in processing whose check time has come, oldest first, and moves their check
	// time ahead so that two reconcilers do not ask twice at once.
	PaymentsToCheck(ctx context.Context, at time.Time, limit int) ([]deposit.Payment, error)
	// Payments lists a deposit's payments, oldest first.
	Payments(ctx context.Context, depositID id.ID) ([]deposit.Payment, error)
}

// PaymentProvider takes money. It is shaped after hosted pages such as Stripe Checkout: we open a page, the tenant pays
// there, and we believe only what Lookup says. Every call is keyed by the payment's id and may be repeated.
// A provider that cannot be reached answers with service_unavailable; the payment then stays processing.
type PaymentProvider interface {
	// Open makes the hosted page of a payment, or gives the one that exists. Where that can no longer be paid, the URL
	// leads to ReturnURL.
	Open(ctx context.Context, r HostedPayment) (HostedPage, error)
	// Lookup asks what became of a payment. One the provider never heard of is ProviderUnknown.
	Lookup(ctx context.Context, paymentID id.ID) (ProviderPayment, error)
	// Close makes sure that the page can no longer be paid, and tells what became of the payment: a payment that was
	// quicker stays succeeded. One the provider never heard of can never be paid either.
	Close(ctx context.Context, paymentID id.ID) (ProviderPayment, error)
	// Collect charges the card that secured the deposit, without the tenant. Asked again after a failure it tries again;
	// what succeeded is never charged twice.
	Collect(ctx context.Context, r CollectRequest) (ProviderPayment, error)
}

// PaymentSimulator pays at the provider's page in the tenant's stead. Only a sandbox provider has it.
type PaymentSimulator interface {
	// SimulatePayment ends an open payment as a good card would, or a bad one. A payment that is over stays as it is.
	SimulatePayment(ctx context.Context, paymentID id.ID, succeeds bool) error
}

// HostedPayment is what a hosted page is made of.
type HostedPayment struct {
	PaymentID   id.ID
	Amount      money.Cents
	Description string // shown to the tenant
	Email       string
	Locale      string
	ReturnURL   string // the page sends the browser here, paid or not
}

// HostedPage is where the tenant pays.
type HostedPage struct {
	Ref string // the provider's own id
	URL string
}

// CollectRequest charges a card on file: that of the fee payment.
type CollectRequest struct {
	PaymentID    id.ID // of the collection
	FeePaymentID id.ID // through which the card was taken
	Amount       money.Cents
	Description  string
}

// ProviderStatus is what the provider says of a payment.
type ProviderStatus string

// What a provider can say.
const (
	ProviderUnknown   ProviderStatus = "unknown"
	ProviderOpen      ProviderStatus = "open" // the page waits for the tenant
	ProviderSucceeded ProviderStatus = "succeeded"
	ProviderFailed    ProviderStatus = "failed"
	ProviderClosed    ProviderStatus = "closed" // can no longer be paid, and was not
)

// ProviderPayment is the provider's view of a payment.
type ProviderPayment struct {
	Status  ProviderStatus
	Ref     string
	Failure string
}

// Scoring decides whether a tenant is accepted.
type Scoring interface {
	// Assess answers service_unavailable when it cannot tell; nothing is decided then.
	Assess(ctx context.Context, a Applicant) (accepted bool, err error)
}

// Applicant is who asks for a guarantee.
type Applicant struct {
	DepositID id.ID
	Amount    money.Cents
	Email     string
	FirstName string
	LastName  string
}
