// Package receiver is a partner's webhook endpoint that follows the rules for receivers
// (service.md, "Webhook receiver"): it checks the signature over the raw body, refuses old timestamps, and
// recognises duplicates. `make run` uses it as a demo; partners may copy it.
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// TimestampTolerance bounds the difference between a webhook's timestamp and the receiver's clock
// (service.md, "Webhook signature").
const TimestampTolerance = 300 * time.Second

// RejectReason says why a webhook is refused; "" for a valid one.
type RejectReason string

// Reasons for refusing a webhook, of which only "expired" is prescribed (service.md, "Webhook receiver").
const (
	RejectMissingSignature  RejectReason = "missing_signature"
	RejectExpiredTimestamp  RejectReason = "expired"
	RejectSignatureMismatch RejectReason = "signature_mismatch"
)

// VerifySignature checks X-Svc-Signature and X-Svc-Timestamp against the raw body of a webhook. It returns "" for
// a valid webhook, else the reason for refusing it.
func VerifySignature(secret, signature, timestamp string, rawBody []byte, now time.Time) RejectReason {
	given, ok := strings.CutPrefix(signature, "sha256=")
	if !ok || timestamp == "" {
		return RejectMissingSignature
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	digest, err := hex.DecodeString(given)
	// In constant time, a comparison reveals nothing about the right signature.
	if err != nil || secret == "" || !hmac.Equal(digest, mac.Sum(nil)) {
		return RejectSignatureMismatch
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > TimestampTolerance {
		return RejectExpiredTimestamp
	}
	return ""
}
