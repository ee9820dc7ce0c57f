package payments

import (
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
)

// BooksMetrics tells how the last comparison with the provider's books ended.
type BooksMetrics interface {
	Differences(n int)
}

// PaymentResult is an answer of the payment provider, as svc_payments_total labels it.
type PaymentResult string

// The results of payments and refunds.
const (
	PaymentSucceeded   PaymentResult = "succeeded"
	PaymentRefused     PaymentResult = "refused"
	PaymentVoided      PaymentResult = "voided"      // can no longer be paid
	PaymentUnavailable PaymentResult = "unavailable" // the provider gave no answer
)

// PaymentResults lists every result.
var PaymentResults = []PaymentResult{PaymentSucceeded, PaymentRefused, PaymentVoided, PaymentUnavailable}

// PaymentMetrics counts the provider's answers (metrics.md, "Names").
type PaymentMetrics interface {
	// Answered counts an answer about a payment, after it is stored: the end of a payment, each refusal of a
	// collection, and each call without an answer. The amount counts where the payment succeeded.
	Answered(kind deposit.PaymentKind, result PaymentResult, amount money.Cents)
	// Refunded does the same for a refund.
	Refunded(result PaymentResult, amount money.Cents)
}
