package webhook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// ReceivedDelivery holds a delivery as its receiver got it, for an explanation of its signature.
type ReceivedDelivery struct {
	Headers  ReceivedHeaders
	Body     []byte
	Computed string // The signature that the receiver computed itself; "": not sent.
}

// CandidateSecrets holds a partner's secrets with which a delivery may have been signed or verified, rightly or by
// mistake; "" for one that the partner does not have.
type CandidateSecrets struct {
	Own     secret.Text
	Others  map[id.ID]secret.Text
	Connect secret.Text
	API     secret.Text // The API key that authenticated the partner's request.
}

// SentDelivery is a sent delivery that may be the one that the receiver got.
type SentDelivery struct {
	ID   id.ID
	Body []byte
}

// SignatureExplanation says whether the signature of a delivery verifies, and if not, why.
type SignatureExplanation struct {
	Cause SignatureCause
	// The explanation for the partner's developer, without signatures and secrets.
	Words      string
	DeliveryID id.ID // The sent delivery that was recognised; zero: none was.
	OtherID    id.ID // Another subscription whose secret was used by mistake; zero: none.
}

// ExplainSignature compares a delivery as received, and the signature that its receiver computed, with what was
// sent. A late timestamp is reported last, since most explanations are requested late.
func ExplainSignature(r ReceivedDelivery, keys CandidateSecrets, sent []SentDelivery,
	now time.Time) SignatureExplanation {
	found := DiagnoseSignature(r.Headers, r.Body, keys.Own, TimestampTolerance, now)
	e := explanation{SignatureExplanation: SignatureExplanation{DeliveryID: sameBody(r.Body, sent)}, reason: found.Reason}
	switch found.Reason {
	case CauseNoHeader, CauseMalformedHeader:
		return e.because(found)
	case CauseSignatureMismatch:
		return e.ofMismatch(r, keys, sent, found)
	}
	if r.Computed != "" {
		if other := e.ofComputed(r, keys); other.Cause != CauseValid {
			return other
		}
	}
	return e.because(found)
}

// explanation is an unfinished explanation of a delivery's signature.
type explanation struct {
	SignatureExplanation
	reason SignatureCause
}

// because returns the completed explanation, with a finding's hint as its cause, or else its reason, or else
// "valid".
func (e explanation) because(f SignatureFinding) SignatureExplanation {
	cause := f.Hint
	if cause == "" {
		cause = f.Reason
	}
	if cause == "" {
		cause = CauseValid
	}
	return e.with(cause, "")
}

// with returns the completed explanation for a cause. detail may add a sentence.
func (e explanation) with(cause SignatureCause, detail string) SignatureExplanation {
	e.Cause, e.Words = cause, wordsOf(e.reason, cause, detail)
	return e.SignatureExplanation
}

// ofMismatch explains a signature that does not match under the subscription's secret.
func (e explanation) ofMismatch(r ReceivedDelivery, keys CandidateSecrets, sent []SentDelivery,
	found SignatureFinding) SignatureExplanation {
	timestamp, signature, _ := signedHeaders(r.Headers)
	if found.Hint == CauseWrongSigningOrder || found.Hint == CauseMillisecondTimestamp {
		return e.because(found)
	}
	signs := func(key secret.Text, body []byte) bool {
		return key != "" && same(signature, prefixed(digest(key.Reveal(), timestamp, ".", string(body))))
	}
	for _, s := range sent {
		if signs(keys.Own, s.Body) {
			e.DeliveryID = s.ID
			switch {
			case found.Hint != "":
				// The client library gives this hint too.
				return e.because(found)
			case sameValue(s.Body, r.Body):
				return e.with(CauseBodyReserialized, "")
			}
			return e.with(CauseBodyChanged, "")
		}
	}
	for other, key := range keys.Others {
		if signs(key, r.Body) {
			e.OtherID = other
			return e.with(CauseOtherSubscriptionSecret, "The delivery was sent for "+id.Subscription.Of(other)+
				", another subscription of yours: verify it with the secret of that subscription.")
		}
	}
	switch {
	case signs(keys.Connect, r.Body):
		return e.with(CauseWrongSecretKind, asConnectSecret)
	case signs(keys.API, r.Body):
		return e.with(CauseWrongSecretKind, asAPIKey)
	case !e.DeliveryID.IsZero():
		return e.with(CauseHeaderChanged, "")
	case found.Hint != "" || r.Computed == "":
		return e.because(found)
	}
	if other := e.ofComputed(r, keys); other.Cause != CauseValid {
		return other
	}
	return e.with(CauseSignatureMismatch, "")
}

// ofComputed explains why the signature that the receiver computed is wrong.
func (e explanation) ofComputed(r ReceivedDelivery, keys CandidateSecrets) SignatureExplanation {
	timestamp, _, _ := signedHeaders(r.Headers)
	e.reason = reasonComputed
	got, form := readComputed(r.Computed)
	switch {
	case strings.HasPrefix(strings.TrimSpace(r.Computed), standardVersion):
		return e.with(CauseSignatureMismatch, "computed is a signature of Standard Webhooks: send that of X-Svc-Signature.")
	case got == "":
		return e.with(CauseSignatureMismatch, "computed is no SHA-256 in hex or base64.")
	case same(got, digest("", timestamp, ".", string(r.Body))):
		return e.with(CauseWrongSecretKind, "It is empty.")
	}
	body := string(r.Body)
	if same(got, digest(keys.Own.Reveal(), timestamp, ".", body)) {
		return e.with(form, "")
	}
	for other, key := range keys.Others {
		if same(got, digest(key.Reveal(), timestamp, ".", body)) {
			e.OtherID = other
			return e.with(CauseOtherSubscriptionSecret, "The receiver uses the secret of "+id.Subscription.Of(other)+
				", another subscription of yours.")
		}
	}
	for m := range mistakes(timestamp, r.Body, keys) {
		if same(got, digest(m.key, m.message)) {
			return e.with(m.cause, m.detail)
		}
	}
	return e.with(CauseSignatureMismatch, "")
}

// sameBody returns the sent delivery that has this body; zero if there is none.
func sameBody(body []byte, sent []SentDelivery) id.ID {
	for _, s := range sent {
		if bytes.Equal(s.Body, body) {
			return s.ID
		}
	}
	return id.ID{}
}

func sameValue(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// PossibleSigningTimes returns the times at which a delivery may have been signed; none for a malformed timestamp.
func (r ReceivedDelivery) PossibleSigningTimes() []time.Time {
	timestamp, _, _ := signedHeaders(r.Headers)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil
	}
	if len(timestamp) == millisecondDigits {
		return []time.Time{time.UnixMilli(seconds)}
	}
	return []time.Time{time.Unix(seconds, 0)}
}
