package deposit

import (
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// RefundStatus is the status of a refund.
type RefundStatus string

// The statuses of a refund. The row commits as pending before the provider is called.
const (
	RefundPending   RefundStatus = "pending"
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed"
)

// RefundStatuses lists every status of a refund.
var RefundStatuses = []RefundStatus{RefundPending, RefundSucceeded, RefundFailed}

// RefundReason is the cause of a refund.
type RefundReason string

// The causes of a refund.
const (
	// the payment succeeded when it could no longer have its effect, as a fee of a cancelled deposit
	Orphaned     RefundReason = "orphaned"
	ChargedWrong RefundReason = "charged_wrong" // staff gives back a charge that was made in error
)

// RefundReasons lists every cause.
var RefundReasons = []RefundReason{Orphaned, ChargedWrong}

// Refund gives a part of a payment, or all of it, back to the tenant.
type Refund struct {
	ID          id.ID // the root of the provider's keys
	PaymentID   id.ID
	DepositID   id.ID
	Amount      money.Cents
	Reason      RefundReason
	Status      RefundStatus
	ProviderRef string
	Failure     string
	Actor       actor.Actor
	CreatedAt   time.Time
	CheckAt     time.Time // time of the next question to the provider
	SettledAt   time.Time // zero while pending
}

// Faults of a refund.
var (
	ErrNotRefundable = fault.New(fault.Conflict, "payment_not_refundable",
		"Only a payment that succeeded can be refunded.")
	ErrRefundExceeds = fault.New(fault.Invalid, "refund_exceeds_payment", "amount: exceeds the rest of the payment.")
)

// Refundable gives the amount to refund from a payment: want, or the rest if want is zero. earlier are the payment's
// refunds.
//
// Returns ErrNotRefundable for a payment without a rest, invalid_field for a negative amount, and ErrRefundExceeds.
func Refundable(p Payment, earlier []Refund, want money.Cents) (money.Cents, error) {
	rest := p.Amount
	for _, r := range earlier {
		if r.Status != RefundFailed {
			rest -= r.Amount
		}
	}
	if p.Status != PaymentSucceeded {
		return 0, ErrNotRefundable
	}
	if rest <= 0 {
		return 0, ErrNotRefundable.WithMessage("The payment has been refunded already.")
	}
	if want < 0 {
		return 0, fault.ErrInvalidField.WithField("amount", "must be more than 0")
	}
	if want > rest {
		return 0,
			ErrRefundExceeds.WithMessage("amount: %sexceeds the %s EUR of the payment that are not refunded.", euros(want), rest)
	}
	if want == 0 {
		return rest, nil
	}
	return want, nil
}
