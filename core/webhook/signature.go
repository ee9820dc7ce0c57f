package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"partnerdeposits/core/secret"
)

// Names of the HTTP headers of a delivery (service.md, "Delivery").
const (
	HeaderSignature = "X-Svc-Signature"
	HeaderTimestamp = "X-Svc-Timestamp"
	HeaderEvent     = "X-Svc-Event"
	// The header with the event's id is sent only if WEBHOOK_EVENT_ID_HEADER is set.
	HeaderEventID = "X-Svc-Event-Id"
)

// Sign returns the headers of an attempt: the Unix time in seconds, and "sha256=" and the hex HMAC-SHA256 of
// "<timestamp>.<body>" (service.md, "Delivery").
func Sign(key secret.Text, body []byte, at time.Time) (timestamp, signature string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	h := hmac.New(sha256.New, []byte(key.Reveal()))
	h.Write([]byte(timestamp))
	h.Write([]byte{'.'})
	h.Write(body)
	out := make([]byte, 0, len("sha256=")+2*sha256.Size)
	out = append(out, "sha256="...)
	return timestamp, string(hex.AppendEncode(out, h.Sum(nil)))
}
