package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

// Failure codes of charges that this adapter sets itself, instead of a code of Stripe.
const (
	failureNoCard        = "no_card_on_file"
	failureNotChargeable = "card_not_chargeable"
)

// leastCharge is the smallest amount in cents that Stripe charges in euros
// (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
const leastCharge money.Cents = 50

func (*Provider) LeastCharge() money.Cents { return leastCharge }

// ChargeStoredCard charges the tenant's saved card. A repeated attempt returns its first answer.
func (p *Provider) ChargeStoredCard(ctx context.Context, r paymentports.CollectRequest) (paymentports.ProviderPayment,
	error) {
	r.Attempt = max(r.Attempt, 1)
	known, err := p.store.begin(ctx,
		record{id: r.PaymentID, kind: deposit.PaymentKindCollection, depositID: r.DepositID, amount: r.Amount,
			createdAt: p.clock.Now()})
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	if !known.closed && known.amount != r.Amount {
		return paymentports.ProviderPayment{}, fault.ErrInternal.WithCause(errKeyReused)
	}
	for range maxSteps {
		out, done, err := p.collectStep(ctx, known, r)
		if err != nil || done {
			return out, err
		}
		if known, err = p.store.load(ctx, r.PaymentID); err != nil {
			return paymentports.ProviderPayment{}, err
		}
	}
	return paymentports.ProviderPayment{}, answered(errContended)
}

// collectStep makes one step towards the answer of an attempt to charge the card; done reports whether out is
// that answer.
func (p *Provider) collectStep(ctx context.Context, known *record,
	r paymentports.CollectRequest) (out paymentports.ProviderPayment, done bool, err error) {
	if known.closed || known.paidRef != "" {
		out, err = p.closedOrPaid(ctx, known)
		return out, true, err
	}
	a, err := p.store.attempt(ctx, r.PaymentID, r.Attempt)
	if err != nil {
		return out, false, err
	}
	o := known.current()
	switch {
	case a != nil && a.answered:
		return p.answered(ctx, known, o, a)
	case o == nil:
		return p.addIntent(ctx, known, r)
	case o.kind == page:
		now, err := p.end(ctx, known, o)
		if err == nil && now.status == live {
			return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen, Ref: o.ref}, true, nil
		}
		return out, false, err
	case o.ref == "":
		_, err := p.fetch(ctx, known, o)
		if err == nil && o.refusal != nil {
			p.log.ErrorContext(ctx, "Stripe refused to prepare a charge", "payment", id.Payment.Of(known.id), "error", o.refusal)
			failure := failureNotChargeable
			// The customer was deleted at Stripe, and with it the saved card.
			if o.refusal.code == string(stripe.ErrorCodeResourceMissing) {
				failure = failureNoCard
			}
			out, err = p.refuse(ctx, known, attempt{number: r.Attempt, failure: failure,
				refusal: paymentports.ChargeRefusedUntilTenantActs})
			return out, err == nil, err
		}
		return out, false, err
	}
	return p.charge(ctx, known, o, r, a)
}

// closedOrPaid returns the state of a closed or paid collection. The page or intent of a closed one may still
// have to be ended at Stripe.
func (p *Provider) closedOrPaid(ctx context.Context, known *record) (paymentports.ProviderPayment, error) {
	if known.paidRef == "" {
		return p.ClosePayment(ctx, known.id)
	}
	return p.answer(ctx, known)
}

// answered returns the stored first answer of an attempt to charge the card, unless the tenant has paid on a page
// since.
func (p *Provider) answered(ctx context.Context, known *record, o *item,
	a *attempt) (paymentports.ProviderPayment, bool, error) {
	if o != nil && o.kind == page {
		now, err := p.fetch(ctx, known, o)
		if err != nil || now.status == paid {
			return paymentports.ProviderPayment{}, false, err
		}
	}
	return a.payment(known), true, nil
}

// addIntent stores a new PaymentIntent for the card that paid the fee, or the attempt as refused if no card was
// saved.
func (p *Provider) addIntent(ctx context.Context, known *record,
	r paymentports.CollectRequest) (out paymentports.ProviderPayment, done bool, err error) {
	customer, _, err := p.card(ctx, r.FeePaymentID)
	if err != nil {
		return out, false, err
	}
	if customer == "" {
		out, err = p.refuse(ctx, known,
			attempt{number: r.Attempt, failure: failureNoCard, refusal: paymentports.ChargeRefusedUntilTenantActs})
		return out, err == nil, err
	}
	number := known.next(intent)
	err = p.store.add(ctx, r.PaymentID, intent, number, intentRequest(r, number, customer), p.clock.Now())
	if errors.Is(err, errTaken) {
		err = nil
	}
	return out, false, err
}

// card returns Stripe's ids of the customer and of the card that paid the fee; "" if there is none.
func (p *Provider) card(ctx context.Context, feePaymentID id.ID) (customer, method string, err error) {
	fee, err := p.store.load(ctx, feePaymentID)
	if err != nil || fee == nil {
		return "", "", err
	}
	if o := fee.current(); o != nil && o.state == live {
		if _, err := p.fetch(ctx, fee, o); err != nil {
			return "", "", err
		}
		if fee, err = p.store.load(ctx, feePaymentID); err != nil {
			return "", "", err
		}
	}
	if fee.customer == "" || fee.method == "" {
		return "", "", nil
	}
	return fee.customer, fee.method, nil
}

// charge charges the saved card for an attempt, unless Stripe shows that the attempt has taken effect already.
func (p *Provider) charge(ctx context.Context, known *record, o *item, r paymentports.CollectRequest,
	a *attempt) (out paymentports.ProviderPayment, done bool, err error) {
	now, err := p.fetch(ctx, known, o)
	switch {
	case err != nil:
		return out, false, err
	case now.status != live:
		return out, false, nil
	case now.stuck:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen, Ref: o.ref}, true, nil
	}
	if err := p.learn(ctx, known, o, now.intent); err != nil {
		return out, false, err
	}
	next := attempt{number: r.Attempt, intent: o.number, try: 1, before: latestCharge(now.intent), sentAt: p.clock.Now()}
	if a != nil && a.intent == o.number {
		// A charge newer than the stored one is this attempt's, and learn has just stored its answer.
		if latestCharge(now.intent) != a.before {
			return out, false, nil
		}
		next = *a
		if p.clock.Now().Sub(a.sentAt) >= keyLife {
			next.try, next.sentAt = a.try+1, p.clock.Now()
		}
	}
	_, method, err := p.card(ctx, r.FeePaymentID)
	if err != nil {
		return out, false, err
	}
	if method == "" {
		next.failure, next.refusal = failureNoCard, paymentports.ChargeRefusedUntilTenantActs
		out, err = p.refuse(ctx, known, next)
		return out, err == nil, err
	}
	if err := p.store.try(ctx, known.id, next); err != nil {
		return out, false, err
	}
	return p.confirm(ctx, known, o, next, method)
}

// confirm charges the card by confirming the PaymentIntent, under the Idempotency-Key of the attempt.
func (p *Provider) confirm(ctx context.Context, known *record, o *item, a attempt,
	method string) (out paymentports.ProviderPayment, done bool, err error) {
	var confirmed stripe.PaymentIntent
	_, err = p.api.send(ctx, request{
		call: "confirm", method: http.MethodPost, path: intentsPath + "/" + o.ref + "/confirm",
		key: confirmKey(known.id, a.number, a.intent, a.try), body: confirmRequest(method),
	}, &confirmed)
	no := asRefused(err)
	switch {
	case err == nil:
		return p.confirmed(ctx, known, o, a, &confirmed)
	case no == nil:
		return out, false, err
	case no.status == http.StatusPaymentRequired:
		return p.declined(ctx, known, a, no)
	case no.spent():
		return p.wasted(ctx, known, o, a)
	case !no.definite():
		return out, false, p.failed(ctx, no)
	}
	now, err := p.fetch(ctx, known, o)
	switch {
	case err != nil:
		return out, false, err
	case now.status == paid:
		return out, false, nil
	// Nothing is charged: the intent was ended for a payment page or by closing the payment.
	case now.status == dead:
		return out, false, answered(errContended)
	case now.stuck:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen, Ref: o.ref}, true, nil
	}
	p.log.ErrorContext(ctx, "Stripe refused to charge a card", "payment", id.Payment.Of(known.id), "error", no)
	a.failure, a.refusal = failureNotChargeable, paymentports.ChargeRefusedUntilTenantActs
	out, err = p.refuse(ctx, known, a)
	return out, err == nil, err
}

// confirmed stores the result of a charge from the PaymentIntent that Stripe returned.
func (p *Provider) confirmed(ctx context.Context, known *record, o *item, a attempt,
	i *stripe.PaymentIntent) (out paymentports.ProviderPayment, done bool, err error) {
	now, err := known.intent(o, i)
	switch {
	case err != nil:
		return out, false, err
	case now.status != live:
		return out, false, p.record(ctx, known, o, now)
	case now.stuck:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen, Ref: o.ref}, true, nil
	}
	// The status requires_action means that the bank wants the tenant to authenticate.
	a.failure, a.refusal = codeAuthentication, paymentports.ChargeRefusedUntilTenantActs
	out, err = p.refuse(ctx, known, a)
	return out, err == nil, err
}

// declined stores a bank's refusal of the card. It reads the charge, which alone contains the bank's advice
// about a retry.
func (p *Provider) declined(ctx context.Context, known *record, a attempt,
	no *responseError) (out paymentports.ProviderPayment, done bool, err error) {
	advice := ""
	if no.charge != "" {
		var charge stripe.Charge
		if err := p.api.get(ctx, chargesPath+"/"+no.charge, url.Values{}, &charge); err != nil {
			return out, false, p.failed(ctx, err)
		}
		if charge.ID != no.charge {
			return out, false, errForeign
		}
		advice = adviceOf(&charge)
	}
	a.charge = no.charge
	a.failure, a.refusal = classify(no.code, no.decline, advice)
	out, err = p.refuse(ctx, known, a)
	return out, err == nil, err
}

// wasted handles a server error that Stripe stored under an attempt's Idempotency-Key: the charge took effect,
// or the attempt gets another key.
func (p *Provider) wasted(ctx context.Context, known *record, o *item,
	a attempt) (out paymentports.ProviderPayment, done bool, err error) {
	now, err := p.fetch(ctx, known, o)
	if err != nil || now.status != live || now.stuck {
		return out, false, err
	}
	if latestCharge(now.intent) != a.before {
		return out, false, p.learn(ctx, known, o, now.intent)
	}
	a.try, a.sentAt = a.try+1, p.clock.Now()
	return out, false, p.store.try(ctx, known.id, a)
}

// refuse stores that an attempt to charge the card was refused, and returns the stored answer.
func (p *Provider) refuse(ctx context.Context, known *record, a attempt) (paymentports.ProviderPayment, error) {
	if a.try == 0 {
		a.try, a.sentAt = 1, p.clock.Now()
	}
	first, err := p.store.answer(ctx, known.id, a)
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	return first.payment(known), nil
}
