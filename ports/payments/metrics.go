package payments

import (
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
)

// BooksMetrics measures the last comparison of this service's payments with the payment provider's: its time and the
// number of differences.
type BooksMetrics interface {
	SetDifferences(n int)
}

// PaymentResult is a result of a call to the payment provider, as the label of svc_payments_total.
type PaymentResult string

// The results of payments and refunds at the payment provider.
const (
	PaymentSucceeded   PaymentResult = "succeeded"
	PaymentRefused     PaymentResult = "refused"
	PaymentVoided      PaymentResult = "voided"
	PaymentUnavailable PaymentResult = "unavailable" // The payment provider gave no answer.
)

// PaymentResults lists every result of payments and refunds at the payment provider.
var PaymentResults = []PaymentResult{PaymentSucceeded, PaymentRefused, PaymentVoided, PaymentUnavailable}

// PaymentMetrics counts the payment provider's answers (metrics.md, "Names").
type PaymentMetrics interface {
	// CountResult counts a result of a payment after it is stored, and each call to the provider without an answer.
	CountResult(kind deposit.PaymentKind, result PaymentResult, amount money.Cents)
	// CountRefundResult counts a result of a refund, after it is stored.
	CountRefundResult(result PaymentResult, amount money.Cents)
}
