// Package receiver is a partner's webhook endpoint that follows the rules for receivers (service.md, "Webhook
// receiver"). The receiver checks the signature over the raw body before parsing, refuses old timestamps, answers 400
// to both, and then recognises duplicates by the hash of the body. `make run` runs this receiver as a demo; partners
// may copy it.
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Tolerance is the largest difference between the timestamp and the receiver's clock (service.md, "Webhook signature").
const Tolerance = 300 * time.Second

// Reason tells why a check failed.
type Reason string

// Of these reasons only "expired" is prescribed (service.md, "Webhook receiver").
const (
	Missing  Reason = "missing_signature"
	Expired  Reason = "expired"
	Mismatch Reason = "signature_mismatch"
)

// Verify checks the headers X-Svc-Signature and X-Svc-Timestamp over the raw body. The result is "" for a valid
// webhook.
func Verify(secret, signature, timestamp string, rawBody []byte, now time.Time) Reason {
	given, ok := strings.CutPrefix(signature, "sha256=")
	if !ok || timestamp == "" {
		return Missing
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	digest, err := hex.DecodeString(given)
	if err != nil || secret == "" || !hmac.Equal(digest, mac.Sum(nil)) { // hmac.Equal takes constant time
		return Mismatch
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return Expired
	}
	return ""
}
