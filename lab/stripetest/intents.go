package stripetest

import (
	"net/http"
	"slices"
)

// intent is a PaymentIntent in the fake of Stripe.
type intent struct {
	base
	status, currency, email string
	amount                  int
	customer                *customer
	method                  *method
	metadata                map[string]string
	// The Checkout Session whose page created the PaymentIntent; nil: none.
	session *session
	charges []*charge
	failed  *apiError // The error of the PaymentIntent's last failed charge.
}

// payable reports whether the PaymentIntent could still lead to a charge.
func (i *intent) payable() bool {
	return slices.Contains([]string{"requires_payment_method", "requires_confirmation", "requires_action", "processing"},
		i.status)
}

func (i *intent) json(f *Fake, expand expansions) map[string]any {
	out := map[string]any{
		"id": i.id, "object": "payment_intent", "status": i.status, "amount": i.amount, "currency": i.currency,
		"metadata": i.metadata, "receipt_email": orNil(i.email), "client_secret": i.id + "_secret_" + i.id,
		"customer": shown(f, i.customer, "customer", nil), "last_payment_error": i.failed,
		"payment_method": shown(f, i.method, "payment_method", nil),
	}
	if len(i.charges) > 0 {
		out["latest_charge"] = shown(f, i.charges[len(i.charges)-1], "latest_charge", expand)
	}
	return out
}

func (f *Fake) createIntent(c call) (any, *apiError) {
	amount, err := whole(c.Params, "amount", 0)
	if err != nil || amount < leastCharge {
		return nil, tooSmall("amount")
	}
	i := &intent{base: f.base("pi"), status: "requires_payment_method", amount: amount,
		currency: c.Params.Get("currency"), metadata: group(c.Params, "metadata")}
	if named := c.Params.Get("customer"); named != "" {
		if i.customer, err = f.customers.find(named); err != nil {
			return nil, err
		}
	}
	f.addIntent(i)
	f.watch(i.metadata, "intent "+i.id+" created")
	return i, nil
}

func (f *Fake) addIntent(i *intent) {
	f.intents.add(i)
	owner := f.paymentOf(i.metadata, i.id)
	owner.intents = append(owner.intents, i)
	f.emit("payment_intent.created", i)
}

// confirmIntent charges a saved card without the tenant.
func (f *Fake) confirmIntent(i *intent, c call) (any, *apiError) {
	switch {
	case i.session != nil:
		return nil, wrongState("payment_intent_unexpected_state", "This PaymentIntent belongs to a Checkout Session.")
	case i.status == "succeeded" || i.status == "canceled" || i.status == "processing":
		return nil, wrongState("payment_intent_unexpected_state",
			"This PaymentIntent has a status of "+i.status+" and cannot be confirmed.")
	}
	m, err := f.methods.find(c.Params.Get("payment_method"))
	if err != nil {
		return nil, err
	}
	if m.customer == nil || m.customer != i.customer {
		return nil, wrongState("", "The provided PaymentMethod was previously used without Customer attachment, "+
			"or it belongs to another Customer.")
	}
	outcome := f.offSession(i, m)
	switch {
	case outcome.declined():
		return nil, f.refuse(i, m, outcome)
	case outcome.Processing:
		i.status, i.method = "processing", m
	default:
		f.succeed(i, m)
	}
	f.watch(i.metadata, "intent "+i.id+" confirmed")
	return i, nil
}

// succeed records the charge of a PaymentIntent, and emits its events.
func (f *Fake) succeed(i *intent, m *method) {
	c := f.addCharge(&charge{status: "succeeded", intent: i, method: m})
	if m.card.disputed {
		c.disputeAt = f.now().Add(disputeAfter)
	}
	i.status, i.method, i.failed = "succeeded", m, nil
	f.emit("charge.succeeded", c)
	f.emit("payment_intent.succeeded", i)
}

func (f *Fake) addCharge(c *charge) *charge {
	c.base, c.amount = f.base("ch"), c.intent.amount
	f.charges.add(c)
	c.intent.charges = append(c.intent.charges, c)
	return c
}

// refuse records a refused charge, and removes the card from its PaymentIntent.
func (f *Fake) refuse(i *intent, m *method, o ChargeOutcome) *apiError {
	c := f.addCharge(&charge{status: "failed", intent: i, method: m, outcome: o})
	i.status, i.method = "requires_payment_method", nil
	err := &apiError{
		status: http.StatusPaymentRequired, Kind: "card_error", Code: o.code(), Decline: o.DeclineCode,
		Message: "Your card was refused. " + m.email, Charge: c.id,
	}
	i.failed = err
	answered := *err
	answered.Intent = i.json(f, nil)
	f.emit("charge.failed", c)
	f.emit("payment_intent.payment_failed", i)
	return &answered
}

func (f *Fake) cancelIntent(i *intent, _ call) (any, *apiError) {
	switch {
	case i.session != nil:
		return nil, wrongState("payment_intent_unexpected_state",
			"This PaymentIntent belongs to a Checkout Session: expire the session.")
	case !i.payable() || i.status == "processing":
		return nil, wrongState("payment_intent_unexpected_state",
			"You cannot cancel this PaymentIntent because it has a status of "+i.status+".")
	}
	f.cancel(i)
	f.watch(i.metadata, "intent "+i.id+" canceled")
	return i, nil
}

func (f *Fake) cancel(i *intent) {
	i.status, i.method = "canceled", nil
	f.emit("payment_intent.canceled", i)
}

// SettleCharge sets the bank's late answer to a payment's processing charge, and reports whether there was one.
func (f *Fake) SettleCharge(paymentID string, o ChargeOutcome) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.intentsOf(paymentID) {
		if i.status != "processing" {
			continue
		}
		if o.declined() {
			f.refuse(i, i.method, o)
		} else {
			f.succeed(i, i.method)
		}
		f.watch(i.metadata, "intent "+i.id+" settled")
		return true
	}
	return false
}
