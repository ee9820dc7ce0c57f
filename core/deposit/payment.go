package deposit

import (
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// PaymentKind is the purpose of a payment.
type PaymentKind string

// The kinds of payment (api.md §3).
const (
	FeePayment PaymentKind = "fee"        // the tenant pays for the guarantee at checkout
	Collection PaymentKind = "collection" // the captured amount is charged to the tenant
)

// PaymentKinds lists every kind of payment.
var PaymentKinds = []PaymentKind{FeePayment, Collection}

// PaymentStatus is the status of a payment in this service; the provider has statuses of its own.
type PaymentStatus string

// The statuses of a payment. A payment is committed as processing before the provider is called, so no crash can lose
// the payment (api.md §3).
const (
	PaymentProcessing PaymentStatus = "processing"
	PaymentSucceeded  PaymentStatus = "succeeded"
	PaymentFailed     PaymentStatus = "failed"
	PaymentVoided     PaymentStatus = "voided" // the hosted page was closed before the tenant paid
)

// PaymentStatuses lists every status of a payment.
var PaymentStatuses = []PaymentStatus{PaymentProcessing, PaymentSucceeded, PaymentFailed, PaymentVoided}

// Payment is an attempt to move money. The id of the payment is the idempotency key at the provider.
type Payment struct {
	ID          id.ID
	DepositID   id.ID
	Kind        PaymentKind
	Amount      money.Cents
	Status      PaymentStatus
	ProviderRef string // the provider's id of the payment, once known
	Failure     string // the provider's reason, for the log and the operator
	Attempts    int    // calls that the provider answered
	CreatedAt   time.Time
	CheckAt     time.Time // time of the next question to the provider
	SettledAt   time.Time // zero while processing
}

// The tenant's fee: 3.5 % of the deposit's amount, and at least 5.00 EUR (ADR 0003).
const (
	FeeBasisPoints             = 350
	LeastFee       money.Cents = 500
)

// Fee is the price that the tenant pays to secure a deposit of amount.
func Fee(amount money.Cents) money.Cents { return max(LeastFee, amount.Share(FeeBasisPoints)) }

// Outcome is the value of depositStatus on the tenant's way back to returnUrl (service.md, "Return-URL outcome").
type Outcome string

// The outcomes that a tenant can see.
const (
	OutcomeSecured   Outcome = "secured"
	OutcomeDeclined  Outcome = "declined"
	OutcomeAbandoned Outcome = "abandoned"
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{OutcomeSecured, OutcomeDeclined, OutcomeAbandoned}

// Outcome is the outcome for a tenant who leaves checkout now (api.md §3).
func (d *Deposit) Outcome() Outcome {
	switch d.Status {
	case Active, Closed, Captured:
		return OutcomeSecured
	case PaymentIssue:
		return OutcomeDeclined
	case Pending, Incomplete, Cancelled:
	}
	if d.StatusReason == TenantDeclined.Reason() {
		return OutcomeDeclined
	}
	return OutcomeAbandoned
}
