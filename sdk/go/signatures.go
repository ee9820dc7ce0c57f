package deposits

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ConnectParams are parts of a connect URL. Page is register (default) or login; TS is Unix seconds (default now).
type ConnectParams struct {
	Slug, Secret, ExternalID, Email, Name, ReturnURL, Page string
	TS                                                     *string
}

var (
	decimal   = regexp.MustCompile(`^(0|[1-9]\d{0,11})(\.\d{1,2})?$`)
	strayEdge = regexp.MustCompile(`^[^!-~]|[^!-~]$`) // Matches a first or last character that no secret has.
	slug      = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)
	unix      = regexp.MustCompile(`^[0-9]{1,15}$`)
	digest    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	base64ed  = regexp.MustCompile(`^[A-Za-z0-9+/]{43}=$`)
	origin    = regexp.MustCompile(`(?i)^https?://[^@?#]+$`)
	elsewhere = regexp.MustCompile(`^[^?]*/\.{0,2}(/|\?|$)`) // Matches a path with an empty segment or one of dots.
	// ours matches bodies of the service: no white space outside strings, no other escapes.
	ours = regexp.MustCompile(`^\{"event":(?:[^"\s]|"(?:[^"\\<>&\x{2028}\x{2029}]|\\["\\bfnrt]|` +
		`\\u(?:00[01][0-9a-f]|003[ce]|0026|202[89]|fffd))*")*$`)
)

// ConnectURL returns the signed URL that brings an operator to the pages at base.
func ConnectURL(base string, p ConnectParams) (string, error) {
	ts, page := strconv.FormatInt(time.Now().Unix(), 10), cmp.Or(p.Page, "register")
	if p.TS != nil {
		ts = *p.TS
	}
	if wrong := cmp.Or(
		when(!strings.HasPrefix(p.Secret, "svc_cs_"), "Secret is not a connect secret (svc_cs_…)"),
		when(!slug.MatchString(p.Slug), "Slug is not 2 to 40 of a-z, 0-9 and -"),
		when(p.ExternalID == "" || len(p.ExternalID) > 255, "ExternalID has not 1 to 255 bytes"),
		when(!unix.MatchString(ts) || len(ts) > 10, "TS is not Unix seconds"),
		when(page != "register" && page != "login", "Page is neither register nor login"),
	); wrong != "" {
		return "", errors.New("deposits: " + wrong)
	}
	link := strings.TrimRight(base, "/") + "/" + page + "?partner=" + p.Slug + "&external_id=" + escape(p.ExternalID) +
		"&ts=" + ts + "&sig=" + sign(p.Secret, p.Slug+"."+p.ExternalID+"."+ts)
	for _, more := range [][2]string{{"&email=", p.Email}, {"&name=", p.Name}, {"&return_url=", p.ReturnURL}} {
		link += when(more[1] != "", more[0]+escape(more[1]))
	}
	return link, nil
}

// Return is a verified return URL's content; its Error is not signed.
type Return struct {
	Status, AccountID, ExternalID, Error string
	TS                                   int64
}

// VerifyReturn verifies and reads an operator's return URL; its error is a *SignatureError.
func VerifyReturn(returned, connectSecret string, opts ...VerifyOption) (*Return, error) {
	returned, _, _ = strings.Cut(returned, "#")
	_, query, _ := strings.Cut(returned, "?")
	q, _ := url.ParseQuery(query) // Pairs that cannot be decoded are left out of the query.
	var missing, twice bool
	for _, name := range []string{"connectStatus", "accountId", "externalId", "returnTs", "returnSig"} {
		missing, twice = missing || len(q[name]) == 0, twice || len(q[name]) > 1
	}
	ts, signature := q.Get("returnTs"), q.Get("returnSig")
	r := &Return{q.Get("connectStatus"), q.Get("accountId"), q.Get("externalId"), q.Get("connectError"), 0}
	r.TS, _ = strconv.ParseInt(ts, 10, 64)
	if reason := cmp.Or(
		when(missing, "missing_parameter"),
		when(twice || !unix.MatchString(ts) || !digest.MatchString(signature), "malformed_parameter"),
		when(!signed(signature, connectSecret, "return:"+r.Status+"."+r.AccountID+"."+ts+"."+r.ExternalID), "mismatch"),
		when(late(ts, 1<<63-1, opts) != "", "expired"),
	); reason != "" {
		return nil, &SignatureError{Reason: reason}
	}
	return r, nil
}

// SignatureError is why a webhook or return URL is refused; Hint is its likely cause, "" when unknown.
type SignatureError struct{ Reason, Hint string }

func (e *SignatureError) Error() string {
	return strings.TrimSpace(words[e.Reason] + " " + words[e.Hint])
}

// VerifyOption sets a signature's greatest age (default 300 s for webhooks, none for return URLs), or the clock.
type VerifyOption func(tolerance *time.Duration, now *func() time.Time)

func WithTolerance(d time.Duration) VerifyOption {
	return func(t *time.Duration, _ *func() time.Time) { *t = d }
}
func WithClock(c func() time.Time) VerifyOption {
	return func(_ *time.Duration, now *func() time.Time) { *now = c }
}

// Unwrap verifies a webhook by its raw body and returns its event, without an ID. Its error is a *SignatureError.
func Unwrap(body []byte, header http.Header, secret string, opts ...VerifyOption) (*Event, error) {
	all := map[string][]string{}
	for name, values := range header {
		name = http.CanonicalHeaderKey(name)
		all[name] = append(all[name], values...)
	}
	ts, signature := strings.Join(all["X-Svc-Timestamp"], ","), strings.Join(all["X-Svc-Signature"], ",")
	hash, prefixed := strings.CutPrefix(signature, "sha256=")
	text, small := string(body), len(body) <= 1<<18 // No hint for large bodies, which anyone may send.
	e, event, lateness := &SignatureError{}, &Event{}, late(ts, 300*time.Second, opts)
	switch {
	case ts == "" || signature == "":
		e.Reason = "missing_header"
	case !unix.MatchString(ts):
		e.Reason = "malformed_header"
	case !prefixed || !digest.MatchString(hash):
		e.Reason, e.Hint = "malformed_header", cmp.Or(
			when(digest.MatchString(signature), "prefix_missing"),
			when(digest.MatchString(strings.ToLower(hash)), "upper_case"),
			when(base64ed.MatchString(hash), "base64"))
	case !signed(hash, secret, ts+"."+text):
		e.Reason, e.Hint = "mismatch", cmp.Or(
			when(strayEdge.MatchString(secret), "secret_whitespace"),
			when(!strings.HasPrefix(secret, "svc_whsec_"), "wrong_secret_kind"),
			when(small && (signed(hash, secret, text+"."+ts) || signed(hash, secret, ts+text) ||
				signed(hash, secret, text)), "order"),
			when(len(ts) == 13, "milliseconds"),
			when(small && (!isObject(text) || strings.TrimSpace(text) != text), "body_changed"),
			when(small && !ours.MatchString(text), "body_reserialized"))
	case lateness != "":
		e.Reason, e.Hint = "expired", lateness
	case !isObject(text) || json.Unmarshal(body, event) != nil:
		e.Reason = "invalid_json"
	default:
		return event, nil
	}
	return nil, e
}

// late returns the hint for a signature time outside the tolerance; "" within it.
func late(ts string, tolerance time.Duration, opts []VerifyOption) string {
	now := time.Now
	for _, opt := range opts {
		opt(&tolerance, &now)
	}
	seconds, _ := strconv.ParseInt(ts, 10, 64)
	age := time.Unix(now().Unix(), 0).Sub(time.Unix(seconds, 0))
	return when(age.Abs() > tolerance, cmp.Or(when(len(ts) == 13, "milliseconds"), when(age > 0, "stale"), "future"))
}

func when(holds bool, word string) string {
	if holds {
		return word
	}
	return ""
}

func isObject(text string) bool {
	var fields map[string]json.RawMessage
	return utf8.ValidString(text) && json.Unmarshal([]byte(text), &fields) == nil && fields != nil
}

// escape percent-encodes a text (RFC 3986).
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func sign(secret, message string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(message))
	return fmt.Sprintf("%x", mac.Sum(nil))
}

// signed checks a signature in constant time, and refuses an empty secret, with which anyone could sign.
func signed(signature, secret, message string) bool {
	return secret != "" && hmac.Equal([]byte(sign(secret, message)), []byte(signature))
}

// StandardSecret returns a secret in the form of libraries for Standard Webhooks.
func StandardSecret(secret string) (string, error) {
	if !strings.HasPrefix(secret, "svc_whsec_") || len(secret) < 24 || len(secret) > 64 {
		return "", errors.New("deposits: the secret is not a signing secret (svc_whsec_…)")
	}
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(secret)), nil
}
