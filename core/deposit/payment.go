package deposit

import (
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// PaymentKind tells what a payment is for.
type PaymentKind string

// The kinds of payment.
const (
	FeePayment PaymentKind = "fee"        // the tenant pays for the guarantee at checkout
	Collection PaymentKind = "collection" // the captured amount is collected from the tenant
)

// PaymentStatus is our view of a payment.
type PaymentStatus string

// A payment is committed as processing before the provider hears of it, so that no crash can lose it (api.md §3).
const (
	PaymentProcessing PaymentStatus = "processing"
	PaymentSucceeded  PaymentStatus = "succeeded"
	PaymentFailed     PaymentStatus = "failed"
	PaymentVoided     PaymentStatus = "voided" // the hosted page was closed before anything was paid
)

// Payment is one attempt to move money. Its id is the provider's idempotency key.
type Payment struct {
	ID          id.ID
	DepositID   id.ID
	Kind        PaymentKind
	Amount      money.Cents
	Status      PaymentStatus
	ProviderRef string // the provider's own id, once known
	Failure     string // the provider's reason, for our log and the operator
	Attempts    int    // times the provider was asked
	CreatedAt   time.Time
	CheckAt     time.Time // when the reconciler asks the provider next
	SettledAt   time.Time // zero while processing
}

// The tenant's fee: a share of the deposit, and never less than the least.
const (
	feeBasisPoints             = 350
	leastFee       money.Cents = 500
)

// Fee is what the tenant pays to secure amount.
func Fee(amount money.Cents) money.Cents { return max(leastFee, amount.Share(feeBasisPoints)) }

// Outcome is what the tenant is told on the way back to returnUrl (spec, "Return-URL outcome").
type Outcome string

// The tenant-facing outcomes.
const (
	OutcomeSecured   Outcome = "secured"
	OutcomeDeclined  Outcome = "declined"
	OutcomeAbandoned Outcome = "abandoned"
)

// Outcome is what a tenant who leaves the deposit's checkout now is told (api.md §3, "Return redirect").
func (d *Deposit) Outcome() Outcome {
	switch {
	case d.Status == Active || d.Status == Closed || d.Status == Captured:
		return OutcomeSecured
	case d.StatusReason == TenantDeclined.Reason() || d.Status == PaymentIssue:
		return OutcomeDeclined
	default:
		return OutcomeAbandoned
	}
}
