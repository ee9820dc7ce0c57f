package deposit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ReturnPageToken returns the token of the page to which a payment provider sends the tenant back: the deposit's
// id, a dot and an HMAC under the checkout token. So the provider never holds the checkout token itself. The token
// is the same each time, as the provider's idempotency key requires.
func ReturnPageToken(depositID id.ID, checkoutToken secret.Text) secret.Text {
	h := hmac.New(sha256.New, []byte(checkoutToken.Reveal()))
	h.Write([]byte("return:" + depositID.Encode()))
	return secret.Text(id.Deposit.Of(depositID) + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil)))
}

// ParseReturnPageToken returns the deposit that a return token names; ok is false for another text. The caller
// verifies the token by comparing it with ReturnPageToken.
func ParseReturnPageToken(token secret.Text) (depositID id.ID, ok bool) {
	owner, _, found := strings.Cut(token.Reveal(), ".")
	if !found {
		return id.ID{}, false
	}
	return id.Deposit.Parse(owner)
}
