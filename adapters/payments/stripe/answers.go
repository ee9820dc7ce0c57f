package stripe

import (
	"errors"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// errForeign is the error for a response of Stripe about another object or amount than requested. It counts as
// no outage.
var errForeign = answered(errors.New("stripe: the answer was not understood: it is about another object"))

// session returns the state of a payment page from Stripe's response, or errForeign if it is not this
// payment's.
func (r *record) session(o *item, s *stripe.CheckoutSession) (seen, error) {
	ours := s.Object == "checkout.session" && named(s.ID, "cs_", o.ref) && r.made(o, s.Metadata, s.AmountTotal, s.Currency)
	if i := s.PaymentIntent; i != nil && i.Object != "" {
		ours = ours && strings.HasPrefix(i.ID, "pi_") && r.made(o, i.Metadata, i.Amount, i.Currency) &&
			r.charged(o, i.LatestCharge)
	}
	if !ours {
		return seen{}, errForeign
	}
	return ofSession(s), nil
}

// intent returns the state of a PaymentIntent from Stripe's response, or errForeign if it is not this
// payment's.
func (r *record) intent(o *item, i *stripe.PaymentIntent) (seen, error) {
	if i.Object != "payment_intent" || !named(i.ID, "pi_", o.ref) || !r.made(o, i.Metadata, i.Amount, i.Currency) {
		return seen{}, errForeign
	}
	return ofIntent(i), nil
}

// named reports whether an id of Stripe has the prefix of its type and equals the known id, if any.
func named(got, prefix, known string) bool {
	return strings.HasPrefix(got, prefix) && (known == "" || got == known)
}

// made reports whether an object at Stripe was made for the page or intent o and has the payment's amount and
// currency.
func (r *record) made(o *item, metadata map[string]string, amount int64, in stripe.Currency) bool {
	return metadata[metaPayment] == id.Payment.Of(r.id) && metadata[metaObject] == nameOf(o.kind, o.number) &&
		money.Cents(amount) == r.amount && in == currency
}

// charged reports whether a charge at Stripe was made for the page or intent o; also true without a whole
// charge, which proves nothing.
func (r *record) charged(o *item, c *stripe.Charge) bool {
	return c == nil || c.Object == "" || (c.Object == "charge" && strings.HasPrefix(c.ID, "ch_") &&
		r.made(o, c.Metadata, c.Amount, c.Currency))
}

// ofSession returns the state of a Checkout Session. The response must contain its intent and the intent's latest
// charge.
func ofSession(s *stripe.CheckoutSession) seen {
	switch {
	case s.Status == stripe.CheckoutSessionStatusExpired:
		return seen{status: dead}
	case s.Status == stripe.CheckoutSessionStatusComplete && s.PaymentIntent != nil &&
		s.PaymentIntent.Status == stripe.PaymentIntentStatusSucceeded:
		out := seen{status: paid, ref: s.PaymentIntent.ID}
		if c := s.PaymentIntent.Customer; c != nil {
			out.customer = c.ID
		}
		if m := s.PaymentIntent.PaymentMethod; m != nil {
			out.method = m.ID
		}
		if c := s.PaymentIntent.LatestCharge; c != nil && c.Created != 0 {
			out.paidAt = time.Unix(c.Created, 0).UTC()
		}
		return out
	}
	return seen{status: live, url: s.URL, stuck: s.Status != stripe.CheckoutSessionStatusOpen}
}

// ofIntent returns the state of a PaymentIntent. The response must contain its latest charge.
func ofIntent(i *stripe.PaymentIntent) seen {
	switch i.Status {
	case stripe.PaymentIntentStatusSucceeded:
		return seen{status: paid, ref: i.ID, intent: i}
	case stripe.PaymentIntentStatusCanceled:
		return seen{status: dead, intent: i}
	}
	return seen{status: live, intent: i, stuck: i.Status == stripe.PaymentIntentStatusProcessing}
}

type seen struct {
	// State of the payment page or intent at Stripe: live (can be paid), dead (cannot be paid) or paid.
	status string
	// Whether a live payment page or intent can for now be neither paid by another card nor ended.
	stuck    bool
	url      string
	ref      string // Stripe's id of the PaymentIntent that was paid.
	customer string
	method   string
	// When a payment page at Stripe was paid; zero if the response does not contain it.
	paidAt time.Time
	intent *stripe.PaymentIntent
}
