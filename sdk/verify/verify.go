// Package verify verifies webhooks of deposits. Copy this file: it needs the standard library alone.
package verify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	seconds   = regexp.MustCompile(`^[0-9]{1,15}$`)
	signature = regexp.MustCompile(`^sha256=[0-9a-f]{64}$`)
)

// Webhook returns the reason why a webhook is refused; "" for a genuine one. body is the raw body, before any parsing.
// secret is the signing secret of the subscription (svc_whsec_…). The time of signing may differ from now by the
// tolerance, such as 5 minutes.
func Webhook(body []byte, header http.Header, secret string, now time.Time, tolerance time.Duration) string {
	stamp, sent := only(header, "X-Svc-Timestamp"), only(header, "X-Svc-Signature")
	if stamp == "" || sent == "" {
		return "missing_header"
	}
	if !seconds.MatchString(stamp) || !signature.MatchString(sent) {
		return "malformed_header"
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	if secret == "" || !hmac.Equal([]byte("sha256="+hex.EncodeToString(mac.Sum(nil))), []byte(sent)) {
		return "mismatch"
	}
	signed, _ := strconv.ParseInt(stamp, 10, 64)
	if now.Truncate(time.Second).Sub(time.Unix(signed, 0)).Abs() > tolerance {
		return "expired"
	}
	var object map[string]json.RawMessage
	if !utf8.Valid(body) || json.Unmarshal(body, &object) != nil || object == nil {
		return "invalid_json"
	}
	return ""
}

// only returns the value of a header. Two values, joined, have no valid form.
func only(header http.Header, name string) string {
	var values []string
	for key, list := range header {
		if strings.EqualFold(key, name) {
			values = append(values, list...)
		}
	}
	return strings.Join(values, ",")
}
