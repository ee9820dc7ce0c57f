package stripetest

import (
	"net/url"
	"regexp"
	"time"
)

const (
	minPageLife = 30 * time.Minute
	maxPageLife = 24 * time.Hour
)

var address = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)

// session is a Checkout Session in the fake of Stripe: a hosted payment page.
type session struct {
	base
	status, currency, email string
	amount                  int
	asked                   url.Values
	metadata                map[string]string
	expires                 time.Time
	// The PaymentIntent of the session; nil until the first card.
	intent    *intent
	challenge *card // The card of a tenant who must authenticate now; nil: none.
	// Code of the refusal that the payment page shows; "": none.
	refused string
}

func (s *session) json(f *Fake, expand expansions) map[string]any {
	out := map[string]any{
		"id": s.id, "object": "checkout.session", "status": s.status, "amount_total": s.amount, "currency": s.currency,
		"customer_email": orNil(s.email), "client_reference_id": orNil(s.asked.Get("client_reference_id")),
		"metadata": s.metadata, "payment_intent": shown(f, s.intent, "payment_intent", expand),
	}
	if s.status == "open" {
		out["url"] = f.url + pathOf(s)
	}
	return out
}

func (f *Fake) createSession(c call) (any, *apiError) {
	const price = "line_items[0][price_data]"
	p := c.Params
	email := p.Get("customer_email")
	if email != "" && !address.MatchString(email) {
		err := invalid("customer_email", "Invalid email address")
		err.Code = "email_invalid"
		return nil, err
	}
	amount, err := whole(p, price+"[unit_amount]", 0)
	if err != nil || amount < leastCharge {
		return nil, tooSmall(price + "[unit_amount]")
	}
	expires, err := whole(p, "expires_at", int(f.now().Add(maxPageLife).Unix()))
	if err != nil {
		return nil, err
	}
	end := time.Unix(int64(expires), 0)
	if life := end.Sub(f.now()); life < minPageLife-time.Second || life > maxPageLife+time.Second {
		return nil, invalid("expires_at",
			"The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.")
	}
	s := &session{
		base: f.base("cs_test"), status: "open", amount: amount, currency: p.Get(price + "[currency]"), email: email,
		asked: p, metadata: group(p, "metadata"), expires: end,
	}
	f.sessions.add(s)
	owner := f.paymentOf(s.metadata, s.id)
	owner.sessions = append(owner.sessions, s)
	f.watch(s.metadata, "page "+s.id+" created")
	return s, nil
}

func (f *Fake) expireSession(s *session, _ call) (any, *apiError) {
	if s.status != "open" {
		return nil, wrongState("", "Only Checkout Sessions with a status in [\"open\"] can be expired. "+
			"This Checkout Session has a status of `"+s.status+"`.")
	}
	f.expire(s)
	return s, nil
}

func (f *Fake) expire(s *session) {
	s.status, s.challenge = "expired", nil
	if s.intent != nil && s.intent.payable() {
		f.cancel(s.intent)
	}
	f.emit("checkout.session.expired", s)
}

// pay charges a card on a session's hosted page. challenge reports whether the tenant must authenticate first.
func (f *Fake) pay(s *session, with card, authenticated bool) (challenge bool) {
	if s.intent == nil {
		s.intent = &intent{
			base: f.base("pi"), amount: s.amount, currency: s.currency, status: "requires_payment_method",
			metadata: group(s.asked, "payment_intent_data[metadata]"), email: s.email, session: s,
		}
		f.addIntent(s.intent)
	}
	if with.asks && !authenticated {
		s.intent.status, s.challenge = "requires_action", &with
		return true
	}
	s.challenge = nil
	m := &method{base: f.base("pm"), card: with, email: s.email}
	f.methods.add(m)
	if with.decline != "" {
		f.refuse(s.intent, m, ChargeOutcome{DeclineCode: with.decline})
		s.refused = with.decline
		return false
	}
	if s.asked.Get("customer_creation") == "always" {
		s.intent.customer = &customer{f.base("cus")}
		f.customers.add(s.intent.customer)
		if s.asked.Get("payment_intent_data[setup_future_usage]") == "off_session" {
			m.customer = s.intent.customer
		}
	}
	s.status = "complete"
	f.succeed(s.intent, m)
	f.emit("checkout.session.completed", s)
	f.watch(s.metadata, "page "+s.id+" paid")
	return false
}
