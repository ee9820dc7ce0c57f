package stripe

import (
	"errors"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// errForeign: an answer is not about the object that was asked for, or has another amount. Nothing in it is believed.
// It says nothing of other payments, and so counts as no outage.
var errForeign = answered(errors.New("stripe: the answer was not understood: it is about another object"))

// session reads the answer about a page. Returns errForeign unless it is the page of this payment.
func (r *record) session(o *item, s *stripe.CheckoutSession) (seen, error) {
	ours := s.Object == "checkout.session" && named(s.ID, "cs_", o.ref) && r.made(o, s.Metadata, s.AmountTotal, s.Currency)
	if i := s.PaymentIntent; i != nil && i.Object != "" { // expanded
		ours = ours && strings.HasPrefix(i.ID, "pi_") && r.made(o, i.Metadata, i.Amount, i.Currency) &&
			r.charged(o, i.LatestCharge)
	}
	if !ours {
		return seen{}, errForeign
	}
	return ofSession(s), nil
}

// intent reads the answer about an intent. Returns errForeign unless it is the intent of this payment.
func (r *record) intent(o *item, i *stripe.PaymentIntent) (seen, error) {
	if i.Object != "payment_intent" || !named(i.ID, "pi_", o.ref) || !r.made(o, i.Metadata, i.Amount, i.Currency) {
		return seen{}, errForeign
	}
	return ofIntent(i), nil
}

// named reports whether an id has the prefix of its type, and is the known id, if there is one.
func named(got, prefix, known string) bool {
	return strings.HasPrefix(got, prefix) && (known == "" || got == known)
}

// made reports whether an object of Stripe was made for o and has the payment's amount.
func (r *record) made(o *item, metadata map[string]string, amount int64, in stripe.Currency) bool {
	return metadata[metaPayment] == id.Payment.Of(r.id) && metadata[metaObject] == nameOf(o.kind, o.number) &&
		money.Cents(amount) == r.amount && in == currency
}

// charged reports whether a charge was made for o. A charge of which only the id is told says nothing.
func (r *record) charged(o *item, c *stripe.Charge) bool {
	return c == nil || c.Object == "" || (c.Object == "charge" && strings.HasPrefix(c.ID, "ch_") &&
		r.made(o, c.Metadata, c.Amount, c.Currency))
}

// ofSession reads a Checkout Session whose intent is expanded, with its latest charge.
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

// ofIntent reads a PaymentIntent whose latest charge is expanded.
func ofIntent(i *stripe.PaymentIntent) seen {
	switch i.Status {
	case stripe.PaymentIntentStatusSucceeded:
		return seen{status: paid, ref: i.ID, intent: i}
	case stripe.PaymentIntentStatusCanceled:
		return seen{status: dead, intent: i}
	}
	return seen{status: live, intent: i, stuck: i.Status == stripe.PaymentIntentStatusProcessing}
}

// seen is the state of an object at Stripe.
type seen struct {
	status   string // live, dead or paid
	stuck    bool   // live, and can neither be paid by a further card nor be ended right now
	url      string // of a live page
	ref      string // of a paid intent
	customer string
	method   string
	paidAt   time.Time // of a paid page; zero if Stripe does not tell
	intent   *stripe.PaymentIntent
}
