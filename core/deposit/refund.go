package deposit

import (
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// RefundStatus is the status of a refund: pending, succeeded or failed.
type RefundStatus string

// The statuses of a refund, which is stored as pending before the provider is called.
const (
	RefundPending   RefundStatus = "pending"
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed"
)

// RefundStatuses lists every status of a refund.
var RefundStatuses = []RefundStatus{RefundPending, RefundSucceeded, RefundFailed}

// RefundReason is the reason for a refund.
type RefundReason string

// The reasons for a refund to the tenant.
const (
	// The payment succeeded too late to have its effect, such as the fee of a cancelled deposit.
	RefundReasonOrphanedPayment RefundReason = "orphaned"
	RefundReasonWrongCharge     RefundReason = "charged_wrong" // Staff refunds a charge that was made in error.
)

// RefundReasons lists every reason for a refund.
var RefundReasons = []RefundReason{RefundReasonOrphanedPayment, RefundReasonWrongCharge}

// Refund is the return of a payment, or a part of it, to the tenant.
type Refund struct {
	ID          id.ID // The refund's id, from which its idempotency keys at the provider are derived.
	PaymentID   id.ID
	DepositID   id.ID
	Amount      money.Cents
	Reason      RefundReason
	Status      RefundStatus
	ProviderRef string
	Failure     string
	Actor       actor.Actor
	CreatedAt   time.Time
	CheckAt     time.Time
	SettledAt   time.Time // When the refund got its final status; zero while pending.
}

// Faults of a refund: the payment cannot be refunded, or the amount is larger than what is left of it.
var (
	ErrPaymentNotRefundable = fault.New(fault.Conflict, "payment_not_refundable",
		"Only a payment that succeeded can be refunded.")
	ErrRefundExceedsPayment = fault.New(fault.Invalid, "refund_exceeds_payment",
		"amount: exceeds the rest of the payment.")
)

// RefundableAmount returns the amount to refund: want, or all that is left of the payment if want is zero. earlier
// holds its refunds so far.
//
// Returns ErrPaymentNotRefundable if nothing is left, invalid_field for a negative amount, and
// ErrRefundExceedsPayment.
func RefundableAmount(p Payment, earlier []Refund, want money.Cents) (money.Cents, error) {
	rest := p.Amount
	for _, r := range earlier {
		if r.Status != RefundFailed {
			rest -= r.Amount
		}
	}
	if p.Status != PaymentSucceeded {
		return 0, ErrPaymentNotRefundable
	}
	if rest <= 0 {
		return 0, ErrPaymentNotRefundable.WithMessage("The payment has been refunded already.")
	}
	if want < 0 {
		return 0, fault.ErrInvalidField.WithField("amount", "must be more than 0")
	}
	if want > rest {
		return 0,
			ErrRefundExceedsPayment.WithMessage("amount: %sexceeds the %s EUR of the payment that are not refunded.", euros(want), rest)
	}
	if want == 0 {
		return rest, nil
	}
	return want, nil
}
