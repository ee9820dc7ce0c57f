package stripe

import (
	"strconv"

	"partnerdeposits/core/id"
)

// confirmKey returns the Idempotency-Key of a charge. n is the number of the PaymentIntent; try rises each time
// Stripe stores a server error under the key.
func confirmKey(paymentID id.ID, attempt, n, try int) string {
	key := numbered(id.Payment.Of(paymentID)+":confirm:"+strconv.Itoa(attempt), n)
	if try > 1 {
		key += ":try:" + strconv.Itoa(try)
	}
	return key
}
