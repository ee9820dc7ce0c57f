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

// RejectionCause names why a connect URL is refused, or is "valid". Causes shared with webhook signatures have the
// same meaning there (api.md §4, "Explain").
type RejectionCause string

// The causes for which a connect URL is refused, and "valid".
const (
	CauseValid                RejectionCause = "valid"
	CauseMissingParameter     RejectionCause = "missing_parameter"
	CauseMalformedParameter   RejectionCause = "malformed_parameter"
	CauseWrongPartner         RejectionCause = "wrong_partner"
	CauseMissingSecret        RejectionCause = "missing_connect_secret"
	CauseBase64Signature      RejectionCause = "base64"
	CauseUpperCaseSignature   RejectionCause = "upper_case"
	CausePrefixedSignature    RejectionCause = "prefix_unexpected"
	CauseWrongSecretKind      RejectionCause = "wrong_secret_kind"
	CauseSecretWhitespace     RejectionCause = "secret_whitespace"
	CauseWrongSigningOrder    RejectionCause = "order"
	CauseMillisecondTimestamp RejectionCause = "milliseconds"
	CauseTSChanged            RejectionCause = "ts_changed"
	CauseExternalIDEncoding   RejectionCause = "encoding"
	CauseSignatureMismatch    RejectionCause = "mismatch"
	CauseStaleTimestamp       RejectionCause = "stale"
	CauseFutureTimestamp      RejectionCause = "future"
	CauseLinkRevoked          RejectionCause = "revoked"
)

// RejectionCauses lists every cause that the explanation of a connect URL may name.
var RejectionCauses = []RejectionCause{CauseValid, CauseMissingParameter, CauseMalformedParameter, CauseWrongPartner,
	CauseMissingSecret,
	CauseBase64Signature, CauseUpperCaseSignature, CausePrefixedSignature, CauseWrongSecretKind, CauseSecretWhitespace,
	CauseWrongSigningOrder, CauseMillisecondTimestamp,
	CauseTSChanged, CauseExternalIDEncoding, CauseSignatureMismatch, CauseStaleTimestamp, CauseFutureTimestamp,
	CauseLinkRevoked}

// CandidateSecrets holds a partner's present secrets with which a connect URL may have been signed, rightly or by
// mistake; "" for a secret that the partner does not have.
type CandidateSecrets struct {
	Connect secret.Text
	API     secret.Text // The API key that authenticated the partner's request.
	Signing map[id.ID]secret.Text
}

// URLExplanation says whether a connect URL is valid, and if not, why it is refused.
type URLExplanation struct {
	Cause RejectionCause
	// The explanation for the partner's developer, without signatures and secrets.
	Words string
}

// ExplainURL explains whether a connect URL of the partner with this slug is valid, from its decoded parameters. It
// does not check revocations.
func ExplainURL(slug string, values map[string][]string, keys CandidateSecrets, now time.Time) (URLParams,
	URLExplanation) {
	if bad := wrongForm(slug, values); bad.Cause != "" {
		return URLParams{}, bad
	}
	p := URLParams{Partner: values["partner"][0], ExternalID: values["external_id"][0], TS: values["ts"][0],
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
		return p, because(CauseMillisecondTimestamp, "")
	}
	if seconds, err := strconv.ParseInt(p.TS, 10, 64); err != nil || seconds > now.Unix() {
		return p, because(CauseFutureTimestamp, "")
	}
	return p, because(CauseStaleTimestamp, "")
}

const millisecondDigits = 13

// wrongForm explains a connect URL's parameter that is missing, repeated, malformed or names another partner; zero
// if all are in order.
func wrongForm(slug string, values map[string][]string) URLExplanation {
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
	if len(values["external_id"][0]) > MaxExternalIDLength {
		return because(CauseMalformedParameter, "external_id has more than 255 bytes.")
	}
	switch {
	case sigPattern.MatchString(sig):
	case base64Sig.MatchString(bare):
		return because(CauseBase64Signature, "")
	case sigPattern.MatchString(bare):
		return because(CausePrefixedSignature, "")
	case sigPattern.MatchString(strings.ToLower(bare)):
		return because(CauseUpperCaseSignature, "")
	default:
		return because(CauseMalformedParameter, "sig is not 64 lower-case hex digits.")
	}
	if !tsPattern.MatchString(values["ts"][0]) {
		return because(CauseMalformedParameter, "ts is not Unix seconds, in digits alone.")
	}
	return URLExplanation{}
}

// base64Sig matches a SHA-256 in base64, with a space for a "+" that URL decoding has replaced.
var base64Sig = regexp.MustCompile(`^[A-Za-z0-9+/ _-]{43}=?$`)

// explainSignature finds the likely mistake behind a signature that does not match.
func (p URLParams) explainSignature(keys CandidateSecrets) URLExplanation {
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
		return because(CauseWrongSigningOrder, "")
	case len(p.TS) == millisecondDigits || signed(p.inMilliseconds()):
		return because(CauseMillisecondTimestamp, "")
	case signed(p.otherTimes()):
		return because(CauseTSChanged, "")
	case signed(p.otherIDs()):
		return because(CauseExternalIDEncoding, "")
	}
	return because(CauseSignatureMismatch, "")
}

// otherOrders returns wrong messages that a partner may have signed: the parameters in another order, or joined
// otherwise.
func (p URLParams) otherOrders() (all []string) {
	parts := []string{p.Partner, p.ExternalID, p.TS}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, between := range []string{".", "", ":", "|", "&", "-", ","} {
			all = append(all, parts[order[0]]+between+parts[order[1]]+between+parts[order[2]])
		}
	}
	query := url.Values{"partner": {p.Partner}, "external_id": {p.ExternalID}, "ts": {p.TS}}
	return append(all, query.Encode(), "partner="+p.Partner+"&external_id="+p.ExternalID+"&ts="+p.TS,
		// The first message is the right one, so it is dropped from the list of mistakes.
		p.ExternalID+"."+p.TS, p.Partner+"."+p.ExternalID)[1:]
}

// inMilliseconds returns wrong messages that a partner may have signed, with the time in milliseconds.
func (p URLParams) inMilliseconds() (all []string) {
	for ms := range 1000 {
		all = append(all, fmt.Sprintf("%s.%s.%s%03d", p.Partner, p.ExternalID, p.TS, ms))
	}
	return all
}

// otherTimes returns wrong messages that a partner may have signed, with a time up to two minutes off or in another
// form.
func (p URLParams) otherTimes() (all []string) {
	const moments = 120
	before := p.Partner + "." + p.ExternalID + "."
	for _, form := range []string{"0" + p.TS, strings.TrimLeft(p.TS, "0"), p.TS + ".0", p.TS[:min(len(p.TS), 10)]} {
		all = append(all, before+form)
	}
	if seconds, err := strconv.ParseInt(p.TS, 10, 64); err == nil {
		// A timestamp that overflows matches no signature, so it does no harm.
		for distance := int64(-moments); distance <= moments; distance++ {
			all = append(all, before+strconv.FormatInt(seconds+distance, 10))
		}
	}
	return all
}

// otherIDs returns wrong messages that a partner may have signed, with an external id encoded once too often or too
// rarely.
func (p URLParams) otherIDs() (all []string) {
	// The error is ignored: an external id that is not in percent encoding decodes to "".
	decoded, _ := url.QueryUnescape(p.ExternalID)
	unescaped, _ := url.PathUnescape(p.ExternalID)
	for _, other := range []string{decoded, unescaped, url.QueryEscape(p.ExternalID), url.PathEscape(p.ExternalID),
		strings.ReplaceAll(url.QueryEscape(p.ExternalID), "+", "%20"), strings.ReplaceAll(p.ExternalID, " ", "+"),
		strings.ReplaceAll(p.ExternalID, "+", " "), strings.ReplaceAll(p.ExternalID, " ", "%20"),
		strings.TrimSpace(p.ExternalID), p.ExternalID + "\n"} {
		all = append(all, p.Partner+"."+other+"."+p.TS)
	}
	return all
}

var words = map[RejectionCause]string{
	CauseValid:                "The URL is valid.",
	CauseMissingParameter:     "A signed parameter is missing.",
	CauseMalformedParameter:   "A signed parameter is not in the form that we expect.",
	CauseWrongPartner:         "The parameter partner is not your slug.",
	CauseMissingSecret:        "You have no connect secret: ask us for one.",
	CauseBase64Signature:      "The signature is base64: it must be lower-case hex.",
	CauseUpperCaseSignature:   "The signature is in upper case: it must be lower-case hex.",
	CausePrefixedSignature:    "The signature begins with sha256=: in a connect URL it is the hex digits alone.",
	CauseWrongSecretKind:      "The secret is not the connect secret (svc_cs_…).",
	CauseSecretWhitespace:     "The secret has white space around it.",
	CauseWrongSigningOrder:    "The signed message is in another order: it is <partner>.<external_id>.<ts>.",
	CauseMillisecondTimestamp: "ts is in milliseconds: it is Unix seconds, in the signed message as in the URL.",
	CauseTSChanged:            "ts is not the one that was signed: take the time once, and put the same text into both.",
	CauseExternalIDEncoding: "external_id was encoded twice, or not at all: sign it as it is, and encode it once " +
		"for the URL (a space is %20, a plus sign %2B).",
	CauseSignatureMismatch: "The signature does not match. It is not what the known mistakes give: compare the secret, " +
		"and the text that was signed with partner, external_id and ts of the URL.",
	CauseStaleTimestamp:  "The signature matches, but ts is more than 30 days in the past: make a new URL.",
	CauseFutureTimestamp: "The signature matches, but ts is more than 30 days in the future: check this server's clock.",
	CauseLinkRevoked: "The signature matches, but the link of this external_id was ended after ts: " +
		"make a new URL.",
}

func because(cause RejectionCause, detail string) URLExplanation {
	message := words[cause]
	if detail != "" {
		message += " " + detail
	}
	return URLExplanation{cause, message}
}

// ExplainRevokedLink returns the explanation of a connect URL that CheckRevocation refuses.
func ExplainRevokedLink() URLExplanation { return because(CauseLinkRevoked, "") }
