package connect

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"partnerdeposits/core/secret"
)

// Sign gives the signature of a connect URL: lower-case hex HMAC-SHA256 over "{slug}.{externalID}.{ts}".
func Sign(key secret.Text, slug, externalID, ts string) string {
	return mac(key, slug+"."+externalID+"."+ts)
}

func mac(key secret.Text, payload string) string {
	h := hmac.New(sha256.New, []byte(key.Reveal()))
	h.Write([]byte(payload))
	return hex.EncodeToString(h.Sum(nil))
}

// ReturnSignature signs the result on return_url, so that the partner can verify the result: hex HMAC-SHA256 over
// "return:{status}.{accountId}.{ts}.{externalId}" (api.md §4).
func ReturnSignature(key secret.Text, status Outcome, accountID, ts, externalID string) string {
	return mac(key, "return:"+string(status)+"."+accountID+"."+ts+"."+externalID)
}
