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

// noticeAge is the distance from now at which a notice is refused: a recorded notice cannot be played back later.
const noticeAge = 300 * time.Second

// noticed is the part of an event's object that a notice uses: ids alone. What the object says about money is not
// believed.
type noticed struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Reference     string            `json:"client_reference_id"`
	PaymentIntent json.RawMessage   `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata"`
}

// Route implements paymentports.PaymentNotices.
func (p *Provider) Route() paymentports.NoticeRoute {
	return paymentports.NoticeRoute{Path: noticePath, Header: "Stripe-Signature"}
}

// noticePath is the address for Stripe's webhooks.
const noticePath = site.ProviderNotices + "stripe"

// Notice implements paymentports.PaymentNotices. The event may have another version of the API than stripe-go, since only ids
// are read.
func (p *Provider) Notice(body []byte, signature string, now time.Time) (paymentports.PaymentNotice, error) {
	if p.webhook == "" {
		return paymentports.PaymentNotice{}, paymentports.ErrNoticeRefused
	}
	sent, ok := signedAt(signature)
	if !ok || now.Truncate(time.Second).Sub(sent).Abs() > noticeAge {
		return paymentports.PaymentNotice{}, paymentports.ErrNoticeRefused
	}
	event, err := webhook.ConstructEventWithOptions(body, signature, p.webhook.Reveal(), webhook.ConstructEventOptions{
		IgnoreTolerance: true, IgnoreAPIVersionMismatch: true, // the age is judged by our clock
	})
	if err != nil {
		return paymentports.PaymentNotice{}, paymentports.ErrNoticeRefused
	}
	notice := paymentports.PaymentNotice{Ref: bound(event.ID)}
	if event.Data == nil {
		return notice, nil
	}
	var about noticed
	if json.Unmarshal(event.Data.Raw, &about) != nil {
		return notice, nil // an object of an unknown form
	}
	return about.fill(notice, event.Type), nil
}

// fill adds the ids of an object to a notice.
func (n noticed) fill(notice paymentports.PaymentNotice, kind stripe.EventType) paymentports.PaymentNotice {
	switch n.Object {
	case "checkout.session", "payment_intent":
		notice.ProviderRef = bound(n.ID)
	case "charge", "refund":
		notice.ProviderRef = bound(idOf(n.PaymentIntent))
	case "dispute":
		notice.ProviderRef = bound(idOf(n.PaymentIntent))
		notice.Dispute = strings.HasPrefix(string(kind), "charge.dispute.")
	default:
		return notice
	}
	paymentID, ok := id.Payment.Parse(n.Metadata[metaPayment])
	if !ok {
		paymentID, _ = id.Payment.Parse(n.Reference)
	}
	notice.PaymentID = paymentID
	return notice
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
