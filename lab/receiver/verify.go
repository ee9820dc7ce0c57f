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

// TimestampTolerance is the largest difference between a webhook's timestamp and the receiver's clock
// (service.md, "Webhook signature").
const TimestampTolerance = 300 * time.Second

// RejectReason says why a webhook is refused, such as a wrong signature; "" for a valid webhook.
type RejectReason string

// The reasons for refusing a webhook. Only "expired" is prescribed (service.md, "Webhook receiver").
const (
	RejectMissingSignature  RejectReason = "missing_signature"
	RejectExpiredTimestamp  RejectReason = "expired"
	RejectSignatureMismatch RejectReason = "signature_mismatch"
)

// VerifySignature checks a webhook's headers X-Svc-Signature and X-Svc-Timestamp against its raw body. Returns ""
// for a valid webhook, else the reason for refusing it.
func VerifySignature(secret, signature, timestamp string, rawBody []byte, now time.Time) RejectReason {
	given, ok := strings.CutPrefix(signature, "sha256=")
	if !ok || timestamp == "" {
		return RejectMissingSignature
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	digest, err := hex.DecodeString(given)
	// Compare the signatures in constant time, so that the time of the answer reveals nothing about the right one.
	if err != nil || secret == "" || !hmac.Equal(digest, mac.Sum(nil)) {
		return RejectSignatureMismatch
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > TimestampTolerance {
		return RejectExpiredTimestamp
	}
	return ""
}
