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

// Received is a delivery as a receiver has it.
type Received struct {
	Headers  Headers
	Body     []byte
	Computed string // the signature that the receiver computed; "" when it does not tell
}

// Keys are the present secrets of a partner that may have been used for a signature. An empty text is none.
type Keys struct {
	Own     secret.Text           // of the subscription
	Others  map[id.ID]secret.Text // of the partner's other subscriptions
	Connect secret.Text
	API     secret.Text // the API key of the request
}

// Sent is a delivery to the subscription, which may be the one that was received.
type Sent struct {
	ID   id.ID
	Body []byte
}

// Explanation tells why a signature does not verify.
type Explanation struct {
	Cause      Cause
	Words      string // for the partner's developer; without signatures and secrets
	DeliveryID id.ID  // zero: not found
	OtherID    id.ID  // of the subscription whose secret was used; zero: none
}

// Explain compares a received delivery, and what its receiver computed, with what was sent. What is wrong with the
// delivery itself comes before what the receiver computed of it, and a late timestamp comes last: an explanation is
// mostly asked for later than the tolerance.
func Explain(r Received, keys Keys, sent []Sent, now time.Time) Explanation {
	found := Diagnose(r.Headers, r.Body, keys.Own, Tolerance, now)
	e := explanation{Explanation: Explanation{DeliveryID: sameBody(r.Body, sent)}, reason: found.Reason}
	switch found.Reason {
	case CauseNoHeader, CauseMalformedHeader:
		return e.because(found)
	case CauseMismatch:
		return e.ofMismatch(r, keys, sent, found)
	}
	if r.Computed != "" {
		if other := e.ofComputed(r, keys); other.Cause != CauseValid {
			return other
		}
	}
	return e.because(found)
}

// explanation is an Explanation in the making.
type explanation struct {
	Explanation
	reason Cause
}

// because ends an explanation with a receiver's finding.
func (e explanation) because(f Finding) Explanation {
	cause := f.Hint
	if cause == "" {
		cause = f.Reason
	}
	if cause == "" {
		cause = CauseValid
	}
	return e.with(cause, "")
}

// with ends an explanation. detail may say more than the words of the cause.
func (e explanation) with(cause Cause, detail string) Explanation {
	e.Cause, e.Words = cause, wordsOf(e.reason, cause, detail)
	return e.Explanation
}

// ofMismatch explains a signature that the subscription's secret does not give for the timestamp and the body.
func (e explanation) ofMismatch(r Received, keys Keys, sent []Sent, found Finding) Explanation {
	timestamp, signature, _ := signedHeaders(r.Headers)
	if found.Hint == CauseOrder || found.Hint == CauseMilliseconds {
		return e.because(found)
	}
	signs := func(key secret.Text, body []byte) bool {
		return key != "" && same(signature, prefixed(digest(key.Reveal(), timestamp, ".", string(body))))
	}
	for _, s := range sent {
		if signs(keys.Own, s.Body) {
			e.DeliveryID = s.ID
			switch {
			case found.Hint != "": // the library's word
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
			return e.with(CauseOtherSecret, "The delivery was sent for "+id.Subscription.Of(other)+
				", another subscription of yours: verify it with the secret of that subscription.")
		}
	}
	switch {
	case signs(keys.Connect, r.Body):
		return e.with(CauseWrongSecretKind, asConnectSecret)
	case signs(keys.API, r.Body):
		return e.with(CauseWrongSecretKind, asAPIKey)
	case !e.DeliveryID.IsZero():
		return e.with(CauseHeader, "")
	case found.Hint != "" || r.Computed == "":
		return e.because(found)
	}
	if other := e.ofComputed(r, keys); other.Cause != CauseValid {
		return other
	}
	return e.with(CauseMismatch, "")
}

// ofComputed explains a signature that the receiver computed for the delivery.
func (e explanation) ofComputed(r Received, keys Keys) Explanation {
	timestamp, _, _ := signedHeaders(r.Headers)
	e.reason = reasonComputed
	got, form := readComputed(r.Computed)
	switch {
	case strings.HasPrefix(strings.TrimSpace(r.Computed), standardVersion):
		return e.with(CauseMismatch, "computed is a signature of Standard Webhooks: send that of X-Svc-Signature.")
	case got == "":
		return e.with(CauseMismatch, "computed is no SHA-256 in hex or base64.")
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
			return e.with(CauseOtherSecret, "The receiver uses the secret of "+id.Subscription.Of(other)+
				", another subscription of yours.")
		}
	}
	for m := range mistakes(timestamp, r.Body, keys) {
		if same(got, digest(m.key, m.message)) {
			return e.with(m.cause, m.detail)
		}
	}
	return e.with(CauseMismatch, "")
}

// sameBody finds a delivery by its body.
func sameBody(body []byte, sent []Sent) id.ID {
	for _, s := range sent {
		if bytes.Equal(s.Body, body) {
			return s.ID
		}
	}
	return id.ID{}
}

// sameValue reports whether two texts are the same JSON value.
func sameValue(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// SignedAt gives the times that the timestamp of a delivery may mean; none for a malformed one.
func (r Received) SignedAt() []time.Time {
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
