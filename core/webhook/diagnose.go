package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/secret"
)

// TimestampTolerance is the largest difference between a delivery's timestamp and the receiver's clock
// (service.md, "Delivery").
const TimestampTolerance = 300 * time.Second

// SignatureCause names why a delivery's signature does not verify, or is "valid". The client libraries use the same
// words (api.md §5, "Explain").
type SignatureCause string

// The causes for which the signature of a delivery does not verify.
const (
	CauseNoHeader        SignatureCause = "missing_header"
	CauseMalformedHeader SignatureCause = "malformed_header"
	// Only client libraries report this reason. Explanations name its hint: stale, future or milliseconds.
	CauseTimestampExpired  SignatureCause = "expired"
	CauseSignatureMismatch SignatureCause = "mismatch"
	CauseInvalidJSON       SignatureCause = "invalid_json"

	CauseStaleTimestamp       SignatureCause = "stale"
	CauseFutureTimestamp      SignatureCause = "future"
	CauseMillisecondTimestamp SignatureCause = "milliseconds"
	CauseBodyReserialized     SignatureCause = "body_reserialized"
	CauseBodyChanged          SignatureCause = "body_changed"
	CauseWrongSecretKind      SignatureCause = "wrong_secret_kind"
	CauseSecretWhitespace     SignatureCause = "secret_whitespace"
	CauseBase64Signature      SignatureCause = "base64"
	CauseUpperCaseSignature   SignatureCause = "upper_case"
	CauseUnprefixedSignature  SignatureCause = "prefix_missing"
	CauseWrongSigningOrder    SignatureCause = "order"

	// Causes that only this service can recognise, from the deliveries that it sent.
	CauseValid                   SignatureCause = "valid"
	CauseOtherSubscriptionSecret SignatureCause = "other_subscription_secret"
	CauseHeaderChanged           SignatureCause = "header_changed"
)

// SignatureCauses lists every cause in an explanation; CauseTimestampExpired never is.
var SignatureCauses = []SignatureCause{CauseNoHeader, CauseMalformedHeader, CauseSignatureMismatch, CauseInvalidJSON,
	CauseStaleTimestamp, CauseFutureTimestamp,
	CauseMillisecondTimestamp, CauseBodyReserialized, CauseBodyChanged, CauseWrongSecretKind, CauseSecretWhitespace,
	CauseBase64Signature,
	CauseUpperCaseSignature, CauseUnprefixedSignature, CauseWrongSigningOrder, CauseValid, CauseOtherSubscriptionSecret,
	CauseHeaderChanged}

// SignatureFinding is the reason for which a receiver refuses a delivery, and a hint at the likely cause; both ""
// if it verifies.
type SignatureFinding struct{ Reason, Hint SignatureCause }

// ReceivedHeaders holds a delivery's HTTP headers, whose names have any case.
type ReceivedHeaders map[string][]string

func (h ReceivedHeaders) values(name string) (all []string) {
	for n, values := range h {
		if strings.EqualFold(n, name) {
			all = append(all, values...)
		}
	}
	return all
}

var (
	timestampForm = regexp.MustCompile(`^[0-9]{1,15}$`)
	signatureForm = regexp.MustCompile(`^sha256=[0-9a-f]{64}$`)
	bareForm      = regexp.MustCompile(`^[0-9a-f]{64}$`)
	anyCaseForm   = regexp.MustCompile(`^(sha256=)?[0-9A-Fa-f]{64}$`)
	// strayEdge matches a text whose first or last character no secret has, such as a line end.
	strayEdge  = regexp.MustCompile(`^[^!-~]|[^!-~]$`)
	base64Form = regexp.MustCompile(`^(sha256=)?[A-Za-z0-9+/]{43}=$`)
)

// DiagnoseSignature checks a delivery as the client libraries do (api.md §5, "Explain").
func DiagnoseSignature(h ReceivedHeaders, body []byte, key secret.Text, tolerance time.Duration,
	now time.Time) SignatureFinding {
	timestamp, signature, bad := signedHeaders(h)
	if bad.Reason != "" {
		return bad
	}
	if key == "" || !same(signature, prefixed(digest(key.Reveal(), timestamp, ".", string(body)))) {
		return SignatureFinding{CauseSignatureMismatch, mismatchHint(timestamp, signature, body, key.Reveal())}
	}
	// A timestamp of at most 15 digits always parses.
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if late := now.Unix() - seconds; late > int64(tolerance/time.Second) || -late > int64(tolerance/time.Second) {
		if len(timestamp) == millisecondDigits {
			return SignatureFinding{CauseTimestampExpired, CauseMillisecondTimestamp}
		}
		if late > 0 {
			return SignatureFinding{CauseTimestampExpired, CauseStaleTimestamp}
		}
		return SignatureFinding{CauseTimestampExpired, CauseFutureTimestamp}
	}
	if !isObject(body) || bytes.HasPrefix(body, []byte(byteOrderMark)) {
		return SignatureFinding{CauseInvalidJSON, ""}
	}
	return SignatureFinding{}
}

const millisecondDigits = 13

// signedHeaders returns the timestamp and signature of a delivery, or in bad what is wrong with them.
func signedHeaders(h ReceivedHeaders) (timestamp, signature string, bad SignatureFinding) {
	timestamps, signatures := h.values(HeaderTimestamp), h.values(HeaderSignature)
	for _, values := range [][]string{timestamps, signatures} {
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			return "", "", SignatureFinding{CauseNoHeader, ""}
		}
	}
	if len(timestamps) > 1 || len(signatures) > 1 || !timestampForm.MatchString(timestamps[0]) {
		return "", "", SignatureFinding{CauseMalformedHeader, ""}
	}
	timestamp, signature = timestamps[0], signatures[0]
	switch {
	case signatureForm.MatchString(signature):
		return timestamp, signature, SignatureFinding{}
	case bareForm.MatchString(signature):
		bad.Hint = CauseUnprefixedSignature
	case anyCaseForm.MatchString(signature):
		bad.Hint = CauseUpperCaseSignature
	case base64Form.MatchString(signature):
		bad.Hint = CauseBase64Signature
	}
	bad.Reason = CauseMalformedHeader
	return timestamp, signature, bad
}

// mismatchHint returns the likely cause of a signature that does not match; "" if none is recognised.
func mismatchHint(timestamp, signature string, body []byte, key string) SignatureCause {
	switch {
	case strayEdge.MatchString(key):
		return CauseSecretWhitespace
	case !strings.HasPrefix(key, SigningSecretPrefix):
		return CauseWrongSecretKind
	case slices.ContainsFunc(otherOrders(timestamp, string(body)),
		func(message string) bool { return same(signature, prefixed(digest(key, message))) }):
		return CauseWrongSigningOrder
	case len(timestamp) == millisecondDigits:
		return CauseMillisecondTimestamp
	case bytes.Equal(trimmed(body), body) && isObject(body):
		if !inOurForm(body) {
			return CauseBodyReserialized
		}
		return ""
	}
	return CauseBodyChanged
}

// otherOrders returns messages that are signed by mistake in place of "<timestamp>.<body>".
func otherOrders(timestamp, body string) []string {
	return []string{body + "." + timestamp, timestamp + body, body}
}

func digest(key string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return string(h.Sum(nil))
}

// same compares two texts in constant time.
func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

func prefixed(digest string) string { return "sha256=" + hex.EncodeToString([]byte(digest)) }

const byteOrderMark = "\ufeff"

// trimmed returns a body without white space and byte order marks around it.
func trimmed(body []byte) []byte {
	return bytes.Trim(body, " \t\r\n"+byteOrderMark)
}

func isObject(body []byte) bool {
	inner := trimmed(body)
	return bytes.HasPrefix(inner, []byte("{")) && json.Valid(inner) && utf8.Valid(inner)
}

// ourEscape matches the escapes \uXXXX in bodies that RenderBody writes.
var ourEscape = regexp.MustCompile(`^u(00[01][0-9a-f]|003c|003e|0026|2028|2029|fffd)`)

// inOurForm reports whether a JSON object has the form that RenderBody writes: no white space, "event" first, and
// the escapes of Go's encoder.
func inOurForm(object []byte) bool {
	if !bytes.HasPrefix(object, []byte(`{"event":"`)) {
		return false
	}
	inString := false
	for i := 0; i < len(object); i++ {
		c := object[i]
		switch {
		case c == '"':
			inString = !inString
		case !inString && strings.ContainsRune(" \t\r\n", rune(c)):
			return false
		case c == '\\':
			i++
			if object[i] == '/' || object[i] == 'u' && !ourEscape.Match(object[i:]) {
				return false
			}
		case strings.ContainsRune("<>&", rune(c)):
			return false
		case c >= utf8.RuneSelf:
			if r, _ := utf8.DecodeRune(object[i:]); r == '\u2028' || r == '\u2029' {
				return false
			}
		}
	}
	return true
}
