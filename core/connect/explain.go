package connect

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// Cause names why a connect URL is refused, or "valid". Words that explain a webhook too mean the same here
// (api.md §4, "Explain").
type Cause string

// The causes.
const (
	CauseValid              Cause = "valid"
	CauseMissingParameter   Cause = "missing_parameter"
	CauseMalformedParameter Cause = "malformed_parameter"
	CauseWrongPartner       Cause = "wrong_partner"
	CauseMissingSecret      Cause = "missing_connect_secret"
	CauseBase64             Cause = "base64"
	CauseUpperCase          Cause = "upper_case"
	CausePrefixed           Cause = "prefix_unexpected"
	CauseWrongSecretKind    Cause = "wrong_secret_kind"
	CauseSecretWhitespace   Cause = "secret_whitespace"
	CauseOrder              Cause = "order"
	CauseMilliseconds       Cause = "milliseconds"
	CauseTSChanged          Cause = "ts_changed"
	CauseEncoding           Cause = "encoding"
	CauseMismatch           Cause = "mismatch"
	CauseStale              Cause = "stale"
	CauseFuture             Cause = "future"
	CauseRevoked            Cause = "revoked"
)

// Causes lists every cause.
var Causes = []Cause{CauseValid, CauseMissingParameter, CauseMalformedParameter, CauseWrongPartner, CauseMissingSecret,
	CauseBase64, CauseUpperCase, CausePrefixed, CauseWrongSecretKind, CauseSecretWhitespace, CauseOrder, CauseMilliseconds,
	CauseTSChanged, CauseEncoding, CauseMismatch, CauseStale, CauseFuture, CauseRevoked}

// Keys are the present secrets of a partner that may have been used for a signature. An empty text is none.
type Keys struct {
	Connect secret.Text
	API     secret.Text // the API key of the request
	Signing map[id.ID]secret.Text
}

// Explanation tells why a connect URL is refused.
type Explanation struct {
	Cause Cause
	Words string // for the partner's developer; without signatures and secrets
}

// Explain checks a connect URL of the partner with this slug. values are the decoded parameters. A URL that is valid
// may still be older than a revocation (Params.CheckRevocation).
func Explain(slug string, values map[string][]string, keys Keys, now time.Time) (Params, Explanation) {
	if bad := wrongForm(slug, values); bad.Cause != "" {
		return Params{}, bad
	}
	p := Params{Partner: values["partner"][0], ExternalID: values["external_id"][0], TS: values["ts"][0],
		Sig: values["sig"][0]}
	if keys.Connect == "" {
		return p, because(CauseMissingSecret, "")
	}
	verdict := p.Verify(keys.Connect, now)
	if verdict == nil {
		return p, because(CauseValid, "")
	}
	if errors.Is(verdict, ErrInvalidSignature) {
		return p, p.explainSignature(keys)
	}
	if len(p.TS) == millisecondDigits {
		return p, because(CauseMilliseconds, "")
	}
	if seconds, err := strconv.ParseInt(p.TS, 10, 64); err != nil || seconds > now.Unix() {
		return p, because(CauseFuture, "")
	}
	return p, because(CauseStale, "")
}

// millisecondDigits is the length of a present time in milliseconds.
const millisecondDigits = 13

// wrongForm finds a parameter that is missing, repeated or of the wrong form.
func wrongForm(slug string, values map[string][]string) Explanation {
	for _, name := range []string{"partner", "external_id", "ts", "sig"} {
		v := values[name]
		if len(v) == 0 {
			return because(CauseMissingParameter, "It is "+name+".")
		}
		if len(v) > 1 {
			return because(CauseMalformedParameter, name+" stands there more than once.")
		}
		if v[0] == "" {
			return because(CauseMissingParameter, "It is "+name+", which is empty, or no UTF-8 in percent encoding.")
		}
	}
	sig, bare := values["sig"][0], strings.TrimPrefix(values["sig"][0], "sha256=")
	if values["partner"][0] != slug {
		return because(CauseWrongPartner, "Your slug is "+slug+".")
	}
	if len(values["external_id"][0]) > MaxExternalID {
		return because(CauseMalformedParameter, "external_id has more than 255 bytes.")
	}
	switch {
	case sigPattern.MatchString(sig):
	case base64Sig.MatchString(bare):
		return because(CauseBase64, "")
	case sigPattern.MatchString(bare):
		return because(CausePrefixed, "")
	case sigPattern.MatchString(strings.ToLower(bare)):
		return because(CauseUpperCase, "")
	default:
		return because(CauseMalformedParameter, "sig is not 64 lower-case hex digits.")
	}
	if !tsPattern.MatchString(values["ts"][0]) {
		return because(CauseMalformedParameter, "ts is not Unix seconds, in digits alone.")
	}
	return Explanation{}
}

// base64Sig matches a SHA-256 in base64; a "+" of it may have become a space.
var base64Sig = regexp.MustCompile(`^[A-Za-z0-9+/ _-]{43}=?$`)

// explainSignature finds out how a signature was made that the connect secret does not give.
func (p Params) explainSignature(keys Keys) Explanation {
	payload := p.Partner + "." + p.ExternalID + "." + p.TS
	signs := func(key secret.Text, payload string) bool {
		return key != "" && hmac.Equal([]byte(p.Sig), []byte(mac(key, payload)))
	}
	for _, signing := range keys.Signing {
		if signs(signing, payload) {
			return because(CauseWrongSecretKind, "It is the signing secret of a webhook (svc_whsec_…).")
		}
	}
	if signs(keys.API, payload) {
		return because(CauseWrongSecretKind, "It is the API key of this request.")
	}
	if hmac.Equal([]byte(p.Sig), []byte(mac("", payload))) {
		return because(CauseWrongSecretKind, "It is empty.")
	}
	if raw := strings.TrimPrefix(keys.Connect.Reveal(), "svc_cs_"); signs(secret.Text(raw), payload) {
		return because(CauseWrongSecretKind, "It is without its prefix: the key is the whole text, svc_cs_ included.")
	}
	for _, around := range []string{"\n", "\r\n", " ", "\t", "\ufeff"} {
		if signs(keys.Connect+secret.Text(around), payload) || signs(secret.Text(around)+keys.Connect, payload) {
			return because(CauseSecretWhitespace, "")
		}
	}
	signed := func(payloads []string) bool {
		return slices.ContainsFunc(payloads, func(other string) bool { return signs(keys.Connect, other) })
	}
	switch {
	case signed(p.otherOrders()):
		return because(CauseOrder, "")
	case len(p.TS) == millisecondDigits || signed(p.inMilliseconds()):
		return because(CauseMilliseconds, "")
	case signed(p.otherTimes()):
		return because(CauseTSChanged, "")
	case signed(p.otherIDs()):
		return because(CauseEncoding, "")
	}
	return because(CauseMismatch, "")
}

// otherOrders lists payloads of the three parts in another order, or joined otherwise.
func (p Params) otherOrders() (all []string) {
	parts := []string{p.Partner, p.ExternalID, p.TS}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, between := range []string{".", "", ":", "|", "&", "-", ","} {
			all = append(all, parts[order[0]]+between+parts[order[1]]+between+parts[order[2]])
		}
	}
	query := url.Values{"partner": {p.Partner}, "external_id": {p.ExternalID}, "ts": {p.TS}}
	return append(all, query.Encode(), "partner="+p.Partner+"&external_id="+p.ExternalID+"&ts="+p.TS,
		p.ExternalID+"."+p.TS, p.Partner+"."+p.ExternalID)[1:] // the first is ours
}

// inMilliseconds lists payloads whose ts has milliseconds behind the seconds of the URL.
func (p Params) inMilliseconds() (all []string) {
	for ms := range 1000 {
		all = append(all, fmt.Sprintf("%s.%s.%s%03d", p.Partner, p.ExternalID, p.TS, ms))
	}
	return all
}

// otherTimes lists payloads with a ts of moments before or after, or in another form.
func (p Params) otherTimes() (all []string) {
	const moments = 120
	before := p.Partner + "." + p.ExternalID + "."
	for _, form := range []string{"0" + p.TS, strings.TrimLeft(p.TS, "0"), p.TS + ".0", p.TS[:min(len(p.TS), 10)]} {
		all = append(all, before+form)
	}
	if seconds, err := strconv.ParseInt(p.TS, 10, 64); err == nil {
		for distance := int64(-moments); distance <= moments; distance++ { // a sum that overflows is another wrong time
			all = append(all, before+strconv.FormatInt(seconds+distance, 10))
		}
	}
	return all
}

// otherIDs lists payloads with an external_id that was encoded or decoded once too often, or not at all.
func (p Params) otherIDs() (all []string) {
	decoded, _ := url.QueryUnescape(p.ExternalID) // "" for a text that is not encoded
	unescaped, _ := url.PathUnescape(p.ExternalID)
	for _, other := range []string{decoded, unescaped, url.QueryEscape(p.ExternalID), url.PathEscape(p.ExternalID),
		strings.ReplaceAll(url.QueryEscape(p.ExternalID), "+", "%20"), strings.ReplaceAll(p.ExternalID, " ", "+"),
		strings.ReplaceAll(p.ExternalID, "+", " "), strings.ReplaceAll(p.ExternalID, " ", "%20"),
		strings.TrimSpace(p.ExternalID), p.ExternalID + "\n"} {
		all = append(all, p.Partner+"."+other+"."+p.TS)
	}
	return all
}

// words are the messages of the causes.
var words = map[Cause]string{
	CauseValid:              "The URL is valid.",
	CauseMissingParameter:   "A signed parameter is missing.",
	CauseMalformedParameter: "A signed parameter is not in the form that we expect.",
	CauseWrongPartner:       "The parameter partner is not your slug.",
	CauseMissingSecret:      "You have no connect secret: ask us for one.",
	CauseBase64:             "The signature is base64: it must be lower-case hex.",
	CauseUpperCase:          "The signature is in upper case: it must be lower-case hex.",
	CausePrefixed:           "The signature begins with sha256=: in a connect URL it is the hex digits alone.",
	CauseWrongSecretKind:    "The secret is not the connect secret (svc_cs_…).",
	CauseSecretWhitespace:   "The secret has white space around it.",
	CauseOrder:              "The signed message is in another order: it is <partner>.<external_id>.<ts>.",
	CauseMilliseconds:       "ts is in milliseconds: it is Unix seconds, in the signed message as in the URL.",
	CauseTSChanged:          "ts is not the one that was signed: take the time once, and put the same text into both.",
	CauseEncoding: "external_id was encoded twice, or not at all: sign it as it is, and encode it once " +
		"for the URL (a space is %20, a plus sign %2B).",
	CauseMismatch: "The signature does not match. It is not what the known mistakes give: compare the secret, " +
		"and the text that was signed with partner, external_id and ts of the URL.",
	CauseStale:  "The signature matches, but ts is more than 30 days in the past: make a new URL.",
	CauseFuture: "The signature matches, but ts is more than 30 days in the future: check this server's clock.",
	CauseRevoked: "The signature matches, but the link of this external_id was ended after ts: " +
		"make a new URL.",
}

func because(cause Cause, detail string) Explanation {
	message := words[cause]
	if detail != "" {
		message += " " + detail
	}
	return Explanation{cause, message}
}

// Revoked explains a URL that CheckRevocation refuses.
func Revoked() Explanation { return because(CauseRevoked, "") }
