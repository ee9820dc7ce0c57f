package stripetest

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	minPageLife = 30 * time.Minute
	maxPageLife = 24 * time.Hour
)

var address = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)

// session is a Checkout Session.
type session struct {
	base
	status                    string
	amount                    int
	currency, email, creation string // customer_creation
	asked                     url.Values
	metadata, intentMetadata  map[string]string
	expires                   time.Time
	customer                  *customer
	intent                    *intent // from the first card on
	challenge                 *card   // of a tenant who authenticates
	refused                   string  // shown on the page
}

func (s *session) json(f *Fake, expand expansions) map[string]any {
	paid := "unpaid"
	if s.status == "complete" {
		paid = "paid"
	}
	out := map[string]any{
		"id": s.id, "object": "checkout.session", "mode": "payment", "status": s.status, "payment_status": paid,
		"livemode": false, "amount_total": s.amount, "currency": s.currency, "customer_email": orNil(s.email),
		"client_reference_id": orNil(s.asked.Get("client_reference_id")), "customer_creation": s.creation,
		"metadata": s.metadata, "expires_at": s.expires.Unix(), "created": s.created, "url": nil,
		"success_url": s.asked.Get("success_url"), "cancel_url": s.asked.Get("cancel_url"),
		"locale":         orNil(s.asked.Get("locale")),
		"payment_intent": shown(f, s.intent, "payment_intent", expand), "customer": shown(f, s.customer, "customer", expand),
	}
	if s.status == "open" {
		out["url"] = f.options.URL + pathOf(s)
	}
	return out
}

var sessionParams = []string{
	"mode", "customer_creation", "customer_email", "payment_method_types[", "line_items[0][quantity]",
	"payment_method_options[card][request_three_d_secure]", "line_items[0][price_data][currency]",
	"line_items[0][price_data][unit_amount]", "line_items[0][price_data][product_data][name]",
	"payment_intent_data[setup_future_usage]", "adaptive_pricing[enabled]", "payment_intent_data[description]",
	"payment_intent_data[metadata][", "metadata[", "client_reference_id", "expires_at", "locale", "success_url",
	"cancel_url",
}

// createSession makes a hosted page.
func (f *Fake) createSession(c call) (any, *apiError) {
	p := c.params
	if err := f.checkSession(p); err != nil {
		return nil, err
	}
	amount, err := whole(p, "line_items[0][price_data][unit_amount]", 0)
	if err != nil {
		return nil, err
	}
	if amount < leastCharge {
		return nil, tooSmall("line_items[0][price_data][unit_amount]")
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
		base: f.base("cs_test"), status: "open", amount: amount, currency: p.Get("line_items[0][price_data][currency]"),
		email: p.Get("customer_email"), creation: cmp.Or(p.Get("customer_creation"), "if_required"), asked: p,
		metadata: group(p, "metadata"), intentMetadata: group(p, "payment_intent_data[metadata]"), expires: end,
	}
	f.sessions.add(s)
	owner := f.paymentOf(s.metadata, s.id)
	owner.sessions = append(owner.sessions, s)
	f.watch(s.metadata, "page "+s.id+" created")
	return s, nil
}

func (f *Fake) checkSession(p url.Values) *apiError {
	if err := only(p, sessionParams...); err != nil {
		return err
	}
	for _, name := range []string{"mode", "success_url", "line_items[0][quantity]", "line_items[0][price_data][currency]",
		"line_items[0][price_data][product_data][name]"} {
		if p.Get(name) == "" {
			return &apiError{status: http.StatusBadRequest, Kind: "invalid_request_error", Code: "parameter_missing",
				Param: name, Message: "Missing required param: " + name}
		}
	}
	switch {
	case p.Get("mode") != "payment":
		return invalid("mode", "the fake knows payment only")
	case p.Get("customer_email") != "" && !address.MatchString(p.Get("customer_email")):
		return &apiError{status: http.StatusBadRequest, Kind: "invalid_request_error", Code: "email_invalid",
			Param: "customer_email", Message: "Invalid email address"}
	}
	if locale := p.Get("locale"); locale != "" && !strings.Contains(" auto de en en-GB es fr it nl pt ", " "+locale+" ") {
		return invalid("locale", "Invalid locale")
	}
	return nil
}

// expireSession ends a page.
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

// pay takes a card on the page. It reports whether the tenant must authenticate first.
func (f *Fake) pay(s *session, with card, authenticated bool) (challenge bool) {
	if s.intent == nil {
		s.intent = &intent{
			base: f.base("pi"), amount: s.amount, currency: s.currency, status: "requires_payment_method",
			metadata: maps.Clone(s.intentMetadata), email: s.email, session: s,
			description: s.asked.Get("payment_intent_data[description]"),
			future:      s.asked.Get("payment_intent_data[setup_future_usage]"),
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
		f.refuse(s.intent, m, Outcome{DeclineCode: with.decline, Code: with.error})
		s.refused = with.decline
		return false
	}
	if s.customer == nil && s.creation == "always" {
		s.customer = &customer{base: f.base("cus"), email: s.email}
		f.customers.add(s.customer)
	}
	s.intent.customer = s.customer
	if s.intent.future == "off_session" && s.customer != nil { // without a customer nothing is saved
		m.customer, m.setUp = s.customer,
			authenticated || s.asked.Get("payment_method_options[card][request_three_d_secure]") == "any"
	}
	s.status = "complete"
	f.succeed(s.intent, m)
	f.emit("checkout.session.completed", s)
	f.watch(s.metadata, "page "+s.id+" paid")
	return false
}
