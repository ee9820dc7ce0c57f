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

// Tolerance is how far the timestamp of a delivery may be from the receiver's clock (service.md, "Delivery").
const Tolerance = 300 * time.Second

// Cause names why a signature does not verify, or "valid". The libraries for partners use the same words: the first
// five are their reasons, the next group their hints (api.md §5, "Explain").
type Cause string

// The causes.
const (
	CauseNoHeader        Cause = "missing_header"
	CauseMalformedHeader Cause = "malformed_header"
	CauseExpired         Cause = "expired" // a reason of libraries alone: its hint is the cause
	CauseMismatch        Cause = "mismatch"
	CauseInvalidJSON     Cause = "invalid_json"

	CauseStale            Cause = "stale"
	CauseFuture           Cause = "future"
	CauseMilliseconds     Cause = "milliseconds"
	CauseBodyReserialized Cause = "body_reserialized"
	CauseBodyChanged      Cause = "body_changed"
	CauseWrongSecretKind  Cause = "wrong_secret_kind"
	CauseSecretWhitespace Cause = "secret_whitespace"
	CauseBase64           Cause = "base64"
	CauseUpperCase        Cause = "upper_case"
	CauseNoPrefix         Cause = "prefix_missing"
	CauseOrder            Cause = "order"

	// Only the service can tell these.
	CauseValid       Cause = "valid"
	CauseOtherSecret Cause = "other_subscription_secret"
	CauseHeader      Cause = "header_changed"
)

// Causes lists what an explanation may name: CauseExpired is told by its hint.
var Causes = []Cause{CauseNoHeader, CauseMalformedHeader, CauseMismatch, CauseInvalidJSON, CauseStale, CauseFuture,
	CauseMilliseconds, CauseBodyReserialized, CauseBodyChanged, CauseWrongSecretKind, CauseSecretWhitespace, CauseBase64,
	CauseUpperCase, CauseNoPrefix, CauseOrder, CauseValid, CauseOtherSecret, CauseHeader}

// Finding is the result of a receiver's checks: the reason of a refusal, and its hint where the cause can be told. Both
// are "" for a delivery that verifies.
type Finding struct{ Reason, Hint Cause }

// Headers are the headers of a delivery as a receiver has them, with names in any case.
type Headers map[string][]string

// values gives the values of a header, under all spellings of its name.
func (h Headers) values(name string) (all []string) {
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
	// strayEdge matches a text that begins or ends with a character that no secret has, such as a line end.
	strayEdge  = regexp.MustCompile(`^[^!-~]|[^!-~]$`)
	base64Form = regexp.MustCompile(`^(sha256=)?[A-Za-z0-9+/]{43}=$`)
)

// Diagnose checks a delivery as the libraries for partners do, with the same reasons and hints
// (api.md §5, "Explain").
func Diagnose(h Headers, body []byte, key secret.Text, tolerance time.Duration, now time.Time) Finding {
	timestamp, signature, bad := signedHeaders(h)
	if bad.Reason != "" {
		return bad
	}
	if key == "" || !same(signature, prefixed(digest(key.Reveal(), timestamp, ".", string(body)))) {
		return Finding{CauseMismatch, mismatchHint(timestamp, signature, body, key.Reveal())}
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64) // at most 15 digits
	if late := now.Unix() - seconds; late > int64(tolerance/time.Second) || -late > int64(tolerance/time.Second) {
		if len(timestamp) == millisecondDigits {
			return Finding{CauseExpired, CauseMilliseconds}
		}
		if late > 0 {
			return Finding{CauseExpired, CauseStale}
		}
		return Finding{CauseExpired, CauseFuture}
	}
	if !isObject(body) || bytes.HasPrefix(body, []byte(byteOrderMark)) {
		return Finding{CauseInvalidJSON, ""}
	}
	return Finding{}
}

// millisecondDigits is the length of a present time in milliseconds.
const millisecondDigits = 13

// signedHeaders gives timestamp and signature, or what is wrong with them.
func signedHeaders(h Headers) (timestamp, signature string, bad Finding) {
	timestamps, signatures := h.values(HeaderTimestamp), h.values(HeaderSignature)
	for _, values := range [][]string{timestamps, signatures} {
		if len(values) == 0 || len(values) == 1 && values[0] == "" {
			return "", "", Finding{CauseNoHeader, ""}
		}
	}
	if len(timestamps) > 1 || len(signatures) > 1 || !timestampForm.MatchString(timestamps[0]) {
		return "", "", Finding{CauseMalformedHeader, ""}
	}
	timestamp, signature = timestamps[0], signatures[0]
	switch {
	case signatureForm.MatchString(signature):
		return timestamp, signature, Finding{}
	case bareForm.MatchString(signature):
		bad.Hint = CauseNoPrefix
	case anyCaseForm.MatchString(signature):
		bad.Hint = CauseUpperCase
	case base64Form.MatchString(signature):
		bad.Hint = CauseBase64
	}
	bad.Reason = CauseMalformedHeader
	return timestamp, signature, bad
}

// mismatchHint tells the likely cause of a signature that the key does not give.
func mismatchHint(timestamp, signature string, body []byte, key string) Cause {
	switch {
	case strayEdge.MatchString(key):
		return CauseSecretWhitespace
	case !strings.HasPrefix(key, SecretPrefix):
		return CauseWrongSecretKind
	case slices.ContainsFunc(otherOrders(timestamp, string(body)),
		func(message string) bool { return same(signature, prefixed(digest(key, message))) }):
		return CauseOrder
	case len(timestamp) == millisecondDigits:
		return CauseMilliseconds
	case bytes.Equal(trimmed(body), body) && isObject(body):
		if !inOurForm(body) {
			return CauseBodyReserialized
		}
		return ""
	}
	return CauseBodyChanged
}

// otherOrders lists the messages that are signed by mistake in place of "<timestamp>.<body>".
func otherOrders(timestamp, body string) []string {
	return []string{body + "." + timestamp, timestamp + body, body}
}

// digest gives the HMAC-SHA256 of the parts.
func digest(key string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return string(h.Sum(nil))
}

// same compares in a time that tells nothing about the texts.
func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

func prefixed(digest string) string { return "sha256=" + hex.EncodeToString([]byte(digest)) }

const byteOrderMark = "\ufeff"

// trimmed takes away the white space and the byte order mark around a body.
func trimmed(body []byte) []byte {
	return bytes.Trim(body, " \t\r\n"+byteOrderMark)
}

// isObject reports whether a body is a JSON object, with or without white space around it.
func isObject(body []byte) bool {
	inner := trimmed(body)
	return bytes.HasPrefix(inner, []byte("{")) && json.Valid(inner) && utf8.Valid(inner)
}

// ourEscape matches the escapes \uXXXX that Render's bodies may have.
var ourEscape = regexp.MustCompile(`^u(00[01][0-9a-f]|003c|003e|0026|2028|2029|fffd)`)

// inOurForm reports whether a JSON object is written as Render writes it: without white space, with the name of the
// event first, and with the escapes of Go's encoder.
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
