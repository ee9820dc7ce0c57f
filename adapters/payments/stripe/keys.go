package stripe

import (
	"strconv"

	"partnerdeposits/core/id"
)

// confirmKey is the key of a charge: a key replays the refusal that it has met, so every attempt has its own. n is the
// number of the intent, and try counts keys that Stripe used up with an error of its own.
func confirmKey(paymentID id.ID, attempt, n, try int) string {
	key := numbered(id.Payment.Of(paymentID)+":confirm:"+strconv.Itoa(attempt), n)
	if try > 1 {
		key += ":try:" + strconv.Itoa(try)
	}
	return key
}
