package webhook

import (
	"encoding/base64"

	"partnerdeposits/core/secret"
)

// Headers of Standard Webhooks, which a subscription may ask for beside ours (api.md §5).
const (
	HeaderStandardID        = "Webhook-Id"
	HeaderStandardTimestamp = "Webhook-Timestamp"
	HeaderStandardSignature = "Webhook-Signature"
)

// standardVersion begins each signature of Standard Webhooks.
const standardVersion = "v1,"

// StandardSecret gives a signing secret in the form that libraries of Standard Webhooks read.
func StandardSecret(key secret.Text) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(key.Reveal()))
}

// SignStandard gives the signature of Standard Webhooks: "v1," and the base64 HMAC-SHA256 of "<id>.<timestamp>.<body>",
// under the UTF-8 bytes of the subscription's secret.
func SignStandard(key secret.Text, messageID, timestamp string, body []byte) string {
	signed := digest(key.Reveal(), messageID, ".", timestamp, ".", string(body))
	return standardVersion + base64.StdEncoding.EncodeToString([]byte(signed))
}
