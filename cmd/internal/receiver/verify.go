// Package receiver is a partner's webhook endpoint as the spec tells receivers to be: it checks the signature over the
// raw body before it parses anything, refuses what is too old, answers 400 when the check fails, and finds duplicates by
// the hash of the body before it does anything else. The demo of `make run` is one; so can be yours.
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the timestamp may lie from our clock (spec, "Webhook signature").
const Tolerance = 300 * time.Second

// Reason tells why a check failed.
type Reason string

// The reasons. The spec names one of them, expired.
const (
	Missing  Reason = "missing_signature"
	Expired  Reason = "expired"
	Mismatch Reason = "signature_mismatch"
)

// Verify checks the headers X-Svc-Signature and X-Svc-Timestamp over the raw body. It gives "" for a good one.
func Verify(secret, signature, timestamp string, rawBody []byte, now time.Time) Reason {
	given, ok := strings.CutPrefix(signature, "sha256=")
	if !ok || timestamp == "" {
		return Missing
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	digest, err := hex.DecodeString(given)
	if err != nil || secret == "" || !hmac.Equal(digest, mac.Sum(nil)) { // hmac.Equal takes the same time whatever differs
		return Mismatch
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return Expired
	}
	return ""
}

// DedupKey names a body: a delivery and all its retries have the same one.
func DedupKey(rawBody []byte) string {
	sum := sha256.Sum256(rawBody)
	return hex.EncodeToString(sum[:])
}
