package deposit

import (
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// PaymentKind is the purpose of a payment: a fee or a collection.
type PaymentKind string

// The purposes of a payment: fee and collection (api.md §3).
const (
	PaymentKindFee        PaymentKind = "fee"
	PaymentKindCollection PaymentKind = "collection"
)

// PaymentKinds lists every purpose of a payment.
var PaymentKinds = []PaymentKind{PaymentKindFee, PaymentKindCollection}

// PaymentStatus is the status of a payment in this service.
type PaymentStatus string

// The statuses of a payment. It is stored as processing before the provider is called, so that a crash cannot lose
// it (api.md §3).
const (
	PaymentProcessing PaymentStatus = "processing"
	PaymentSucceeded  PaymentStatus = "succeeded"
	PaymentFailed     PaymentStatus = "failed"
	PaymentVoided     PaymentStatus = "voided" // The provider's payment page was closed before the tenant paid.
)

// PaymentStatuses lists every status of a payment.
var PaymentStatuses = []PaymentStatus{PaymentProcessing, PaymentSucceeded, PaymentFailed, PaymentVoided}

// Payment is an attempt to move money. Its id is the idempotency key at the provider.
type Payment struct {
	ID          id.ID
	DepositID   id.ID
	Kind        PaymentKind
	Amount      money.Cents
	Status      PaymentStatus
	ProviderRef string // The provider's id of the payment; "" until it is known.
	Failure     string // The provider's reason for the failure of the payment, for the log and the operator.
	Attempts    int    // The number of calls about the payment that the provider has answered.
	CreatedAt   time.Time
	CheckAt     time.Time
	SettledAt   time.Time // When the payment got its final status; zero while processing.
}

// The fee for a deposit: 3.5 % of the amount, at least 5.00 EUR (ADR 0003).
const (
	FeeBasisPoints             = 350
	LeastFee       money.Cents = 500
)

// Fee returns the price that the tenant pays to secure a deposit of an amount.
func Fee(amount money.Cents) money.Cents {
	return max(LeastFee, amount.ShareInBasisPoints(FeeBasisPoints))
}

// CheckoutOutcome is the value of depositStatus on returnUrl (service.md, "Return-URL outcome").
type CheckoutOutcome string

// The results of a checkout that returnUrl can carry.
const (
	OutcomeSecured   CheckoutOutcome = "secured"
	OutcomeDeclined  CheckoutOutcome = "declined"
	OutcomeAbandoned CheckoutOutcome = "abandoned"
)

// CheckoutOutcomes lists every result of a checkout that returnUrl can carry.
var CheckoutOutcomes = []CheckoutOutcome{OutcomeSecured, OutcomeDeclined, OutcomeAbandoned}

// CheckoutOutcome returns the result for a tenant who leaves the checkout now (api.md §3).
func (d *Deposit) CheckoutOutcome() CheckoutOutcome {
	switch d.Status {
	case Active, Closed, Captured:
		return OutcomeSecured
	case PaymentIssue:
		return OutcomeDeclined
	case Pending, Incomplete, Cancelled:
	}
	if d.StatusReason == TriggerTenantDeclined.StatusReason() {
		return OutcomeDeclined
	}
	return OutcomeAbandoned
}
