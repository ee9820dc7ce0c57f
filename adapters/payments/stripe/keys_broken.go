//go:build broken_payment_key

package stripe

import "partnerdeposits/core/id"

// confirmKey is the broken variant: the payment's id is the key of every attempt, so that a later attempt is told the old refusal
// (docs/guides/faults.md).
func confirmKey(paymentID id.ID, _, _, _ int) string { return id.Payment.Of(paymentID) + ":confirm" }
