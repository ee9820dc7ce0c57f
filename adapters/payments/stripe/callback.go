package stripe

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	paymentports "partnerdeposits/ports/payments"
)

// callbackAge is the greatest age of an accepted callback, so that a recorded one cannot be replayed later.
const callbackAge = 300 * time.Second

// callbackObject holds the ids of a Stripe event's object; what it states about money is ignored.
type callbackObject struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Reference     string            `json:"client_reference_id"`
	PaymentIntent json.RawMessage   `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata"`
}

func (p *Provider) CallbackRoute() paymentports.CallbackRoute {
	return paymentports.CallbackRoute{Path: callbackPath, Header: "Stripe-Signature"}
}

const callbackPath = site.ProviderCallbacksPath + "stripe"

// VerifyCallback checks signature and age of a Stripe event and returns its ids. The event may be of any API
// version.
func (p *Provider) VerifyCallback(body []byte, signature string, now time.Time) (paymentports.Callback, error) {
	if p.webhook == "" {
		return paymentports.Callback{}, paymentports.ErrCallbackRefused
	}
	sent, ok := signedAt(signature)
	if !ok || now.Truncate(time.Second).Sub(sent).Abs() > callbackAge {
		return paymentports.Callback{}, paymentports.ErrCallbackRefused
	}
	event, err := webhook.ConstructEventWithOptions(body, signature, p.webhook.Reveal(), webhook.ConstructEventOptions{
		// stripe-go must not check the age of the event, which has been checked against this service's clock.
		IgnoreTolerance: true, IgnoreAPIVersionMismatch: true,
	})
	if err != nil {
		return paymentports.Callback{}, paymentports.ErrCallbackRefused
	}
	callback := paymentports.Callback{Ref: bound(event.ID)}
	if event.Data == nil {
		return callback, nil
	}
	var about callbackObject
	if json.Unmarshal(event.Data.Raw, &about) != nil {
		// For an event about an object of unknown form, only the id of the event is returned.
		return callback, nil
	}
	return about.fill(callback, event.Type), nil
}

func (n callbackObject) fill(callback paymentports.Callback, kind stripe.EventType) paymentports.Callback {
	switch n.Object {
	case "checkout.session", "payment_intent":
		callback.ProviderRef = bound(n.ID)
	case "charge", "refund":
		callback.ProviderRef = bound(idOf(n.PaymentIntent))
	case "dispute":
		callback.ProviderRef = bound(idOf(n.PaymentIntent))
		callback.Dispute = strings.HasPrefix(string(kind), "charge.dispute.")
	default:
		return callback
	}
	paymentID, ok := id.Payment.Parse(n.Metadata[metaPayment])
	if !ok {
		paymentID, _ = id.Payment.Parse(n.Reference)
	}
	callback.PaymentID = paymentID
	return callback
}

// idOf returns an id from JSON of Stripe: the id itself or the field id of an object.
func idOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &object) // The error is ignored: an object at Stripe that cannot be parsed has no id.
	return object.ID
}

// signedAt returns the time in the header Stripe-Signature (t=…,v1=…). More than one time is refused: stripe-go
// verifies only the last.
func signedAt(header string) (at time.Time, ok bool) {
	for part := range strings.SplitSeq(header, ",") {
		text, found := strings.CutPrefix(strings.TrimSpace(part), "t=")
		if !found {
			continue
		}
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || !at.IsZero() {
			return time.Time{}, false
		}
		at, ok = time.Unix(seconds, 0), true
	}
	return at, ok
}
