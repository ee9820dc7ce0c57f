package payments

import (
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
)

type BooksMetrics interface {
	SetDifferences(n int)
}

type PaymentResult string

const (
	PaymentSucceeded   PaymentResult = "succeeded"
	PaymentRefused     PaymentResult = "refused"
	PaymentVoided      PaymentResult = "voided"
	PaymentUnavailable PaymentResult = "unavailable" // The payment provider gave no answer.
)

var PaymentResults = []PaymentResult{PaymentSucceeded, PaymentRefused, PaymentVoided, PaymentUnavailable}

// PaymentMetrics counts the payment provider's answers (metrics.md, "Names").
type PaymentMetrics interface {
	// CountResult counts a result of a payment after it is stored, and each call to the provider without an answer.
	CountResult(kind deposit.PaymentKind, result PaymentResult, amount money.Cents)
	// CountRefundResult counts a result of a refund, after it is stored.
	CountRefundResult(result PaymentResult, amount money.Cents)
}
