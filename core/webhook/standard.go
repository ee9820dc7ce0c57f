package webhook

import (
	"encoding/base64"

	"partnerdeposits/core/secret"
)

// Headers of the Standard Webhooks specification, which a subscription may request in addition (api.md §5).
const (
	HeaderStandardID        = "Webhook-Id"
	HeaderStandardTimestamp = "Webhook-Timestamp"
	HeaderStandardSignature = "Webhook-Signature"
)

// standardVersion begins each signature of the Standard Webhooks specification.
const standardVersion = "v1,"

// StandardWebhooksSecret returns a signing secret as libraries for Standard Webhooks expect it.
func StandardWebhooksSecret(key secret.Text) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(key.Reveal()))
}

// SignStandardWebhooks returns a Standard Webhooks signature: "v1," and the base64 HMAC-SHA256 of
// "<id>.<timestamp>.<body>", under the secret's UTF-8 bytes.
func SignStandardWebhooks(key secret.Text, messageID, timestamp string, body []byte) string {
	signed := digest(key.Reveal(), messageID, ".", timestamp, ".", string(body))
	return standardVersion + base64.StdEncoding.EncodeToString([]byte(signed))
}
