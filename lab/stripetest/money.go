package stripetest

import "time"

// charge is an attempt to charge a card in the fake.
type charge struct {
	base
	status    string
	intent    *intent
	method    *method
	amount    int
	refunded  int
	outcome   ChargeOutcome // The bank's refusal of the charge, if any.
	disputed  bool
	disputeAt time.Time
}

func (c *charge) succeeded() bool { return c.status == "succeeded" }

func (c *charge) json(f *Fake, expand expansions) map[string]any {
	return map[string]any{
		"id": c.id, "object": "charge", "status": c.status, "amount": c.amount, "currency": c.intent.currency,
		"metadata": c.intent.metadata, "created": c.created,
		"outcome":        map[string]any{"advice_code": orNil(c.outcome.AdviceCode)},
		"payment_intent": shown(f, c.intent, "payment_intent", expand),
	}
}

// paid returns the PaymentIntent's successful charge; nil: none.
func (i *intent) paid() *charge {
	for _, c := range i.charges {
		if c.succeeded() {
			return c
		}
	}
	return nil
}

type refund struct {
	base
	status   string
	charge   *charge
	amount   int
	metadata map[string]string
}

func (r *refund) json(f *Fake, expand expansions) map[string]any {
	out := map[string]any{
		"id": r.id, "object": "refund", "status": r.status, "amount": r.amount, "currency": r.charge.intent.currency,
		"metadata": r.metadata, "created": r.created,
		"payment_intent": shown(f, r.charge.intent, "payment_intent", expand),
	}
	if r.status == "failed" {
		out["failure_reason"] = "expired_or_canceled_card"
	}
	return out
}

// SetRefundStatuses sets the statuses of the next refunds: pending or failed.
func (f *Fake) SetRefundStatuses(statuses ...string) {
	f.change(func() { f.refusing = append(f.refusing, statuses...) })
}

func (f *Fake) createRefund(c call) (any, *apiError) {
	i, err := f.intents.find(c.Params.Get("payment_intent"))
	if err != nil {
		return nil, err
	}
	paid := i.paid()
	if paid == nil {
		return nil,
			wrongState("payment_intent_unexpected_state", "This PaymentIntent does not have a successful charge to refund.")
	}
	amount, err := whole(c.Params, "amount", paid.amount-paid.refunded)
	switch {
	case err != nil:
		return nil, err
	case paid.refunded == paid.amount:
		return nil, wrongState("charge_already_refunded", "Charge "+paid.id+" has already been refunded.")
	case paid.disputed:
		return nil, wrongState("charge_disputed", "Charge "+paid.id+" has been charged back; cannot issue a refund.")
	case amount < 1 || paid.refunded+amount > paid.amount:
		return nil, invalid("amount", "Refund amount is greater than unrefunded amount on charge.")
	}
	return f.giveBack(paid, amount, group(c.Params, "metadata")), nil
}

func (f *Fake) giveBack(paid *charge, amount int, metadata map[string]string) *refund {
	r := &refund{base: f.base("re"), status: "succeeded", charge: paid, amount: amount, metadata: metadata}
	if len(f.refusing) > 0 {
		r.status, f.refusing = f.refusing[0], f.refusing[1:]
	}
	if r.status != "failed" {
		paid.refunded += amount
	}
	f.refunds.add(r)
	f.emit("charge.refunded", paid)
	f.emit("refund.created", r)
	return r
}

// RefundByHand refunds a payment as staff would in Stripe's own pages, and reports whether it had a successful
// charge.
func (f *Fake) RefundByHand(paymentID string, amount int) bool {
	return f.onPaid(paymentID, func(paid *charge) { f.giveBack(paid, amount, map[string]string{}) })
}

// SettleRefund ends a pending refund as succeeded or failed.
func (f *Fake) SettleRefund(ref, status string) {
	f.change(func() {
		r := f.refunds.byID[ref]
		r.status = status
		f.emit("refund.updated", r)
	})
}

// DisputeCharge makes the tenant dispute a payment's charge, and reports whether there was a successful one.
func (f *Fake) DisputeCharge(paymentID, reason string) bool {
	return f.onPaid(paymentID, func(paid *charge) { f.openDispute(paid, reason) })
}

// onPaid calls do with the successful charge of a payment, and reports whether there was one.
func (f *Fake) onPaid(paymentID string, do func(*charge)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.intentsOf(paymentID) {
		if paid := i.paid(); paid != nil {
			do(paid)
			return true
		}
	}
	return false
}

// dispute is a tenant's objection to a charge.
type dispute struct {
	base
	reason string
	charge *charge
}

// timeToAnswer is the time for evidence about a dispute, in seconds.
const timeToAnswer = 9 * 24 * 60 * 60

func (d *dispute) json(f *Fake, expand expansions) map[string]any {
	return map[string]any{
		"id": d.id, "object": "dispute", "reason": d.reason, "status": "needs_response", "amount": d.charge.amount,
		"currency": d.charge.intent.currency, "created": d.created,
		"evidence_details": map[string]any{"due_by": d.created + timeToAnswer},
		"payment_intent":   shown(f, d.charge.intent, "payment_intent", expand),
	}
}

func (f *Fake) openDispute(c *charge, reason string) {
	c.disputed = true
	d := &dispute{base: f.base("du"), reason: reason, charge: c}
	f.disputes.add(d)
	f.emit("charge.dispute.created", d)
}
