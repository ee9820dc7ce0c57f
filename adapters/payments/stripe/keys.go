package stripe

import (
	"strconv"

	"partnerdeposits/core/id"
)

// confirmKey returns the Idempotency-Key of a charge. Stripe repeats a refusal under the same key, so every
// attempt has a key of its own. n is the number of the PaymentIntent; try rises by 1 each time Stripe has stored a
// server error under the key.
func confirmKey(paymentID id.ID, attempt, n, try int) string {
	key := numbered(id.Payment.Of(paymentID)+":confirm:"+strconv.Itoa(attempt), n)
	if try > 1 {
		key += ":try:" + strconv.Itoa(try)
	}
	return key
}
