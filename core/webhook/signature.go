package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"partnerdeposits/core/secret"
)

// Headers of a delivery (spec, "Delivery").
const (
	HeaderSignature = "X-Svc-Signature"
	HeaderTimestamp = "X-Svc-Timestamp"
	HeaderEvent     = "X-Svc-Event"
	HeaderEventID   = "X-Svc-Event-Id" // announced by the spec, sent only where configured
)

// Sign gives the signature headers of one attempt: HMAC-SHA256 with the subscription's secret over "<timestamp>.<body>".
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
