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

// callbackAge is the distance from now at which a callback is refused: a recorded callback cannot be played back later.
const callbackAge = 300 * time.Second

// callbackObject is the part of an event's object that a callback uses: ids alone. What the object says about money is
// not believed.
type callbackObject struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Reference     string            `json:"client_reference_id"`
	PaymentIntent json.RawMessage   `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata"`
}

// Route implements paymentports.Callbacks.
func (p *Provider) Route() paymentports.CallbackRoute {
	return paymentports.CallbackRoute{Path: callbackPath, Header: "Stripe-Signature"}
}

// callbackPath is the address for Stripe's webhooks.
const callbackPath = site.ProviderCallbacks + "stripe"

// Callback implements paymentports.Callbacks. The event may have another version of the API than stripe-go, since only
// ids are read.
func (p *Provider) Callback(body []byte, signature string, now time.Time) (paymentports.Callback, error) {
	if p.webhook == "" {
		return paymentports.Callback{}, paymentports.ErrCallbackRefused
	}
	sent, ok := signedAt(signature)
	if !ok || now.Truncate(time.Second).Sub(sent).Abs() > callbackAge {
		return paymentports.Callback{}, paymentports.ErrCallbackRefused
	}
	event, err := webhook.ConstructEventWithOptions(body, signature, p.webhook.Reveal(), webhook.ConstructEventOptions{
		IgnoreTolerance: true, IgnoreAPIVersionMismatch: true, // the age is judged by our clock
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
		return callback, nil // an object of an unknown form
	}
	return about.fill(callback, event.Type), nil
}

// fill adds the ids of an object to a callback.
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

// idOf reads an id, or the id of an expanded object.
func idOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &object) // absent: no id
	return object.ID
}

// signedAt reads the time of the header Stripe-Signature, whose form is t=…,v1=…. Of several times stripe-go signs the
// last, so the age of a header with more than one proves nothing.
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
