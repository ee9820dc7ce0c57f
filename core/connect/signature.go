package connect

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"partnerdeposits/core/secret"
)

// SignURL returns the signature of a connect URL: hex HMAC-SHA256 over "{slug}.{externalID}.{ts}".
func SignURL(key secret.Text, slug, externalID, ts string) string {
	return mac(key, slug+"."+externalID+"."+ts)
}

func mac(key secret.Text, payload string) string {
	h := hmac.New(sha256.New, []byte(key.Reveal()))
	h.Write([]byte(payload))
	return hex.EncodeToString(h.Sum(nil))
}

// SignReturnURL signs the result on the return URL: hex HMAC-SHA256 over
// "return:{status}.{accountId}.{ts}.{externalId}" (api.md §4).
func SignReturnURL(key secret.Text, status LinkResult, accountID, ts, externalID string) string {
	return mac(key, "return:"+string(status)+"."+accountID+"."+ts+"."+externalID)
}
