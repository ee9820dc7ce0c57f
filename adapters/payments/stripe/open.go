package stripe

import (
	"context"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// maxSteps bounds how often a call starts again because another process has changed the payment.
const maxSteps = 8

// errContended is the error for a payment that other processes kept changing during the call.
var errContended = errors.New("stripe: the payment changes too quickly")

// OpenPage returns the address of the payment page at Stripe, which it makes if necessary; the return URL if there is
// nothing left to pay.
func (p *Provider) OpenPage(ctx context.Context, r paymentports.HostedPageRequest) (paymentports.HostedPage, error) {
	kind := r.Kind
	if kind == "" {
		kind = deposit.PaymentKindFee
	}
	known, err := p.store.begin(ctx,
		record{id: r.PaymentID, kind: kind, depositID: r.DepositID, amount: r.Amount, createdAt: p.clock.Now()})
	if err != nil {
		return paymentports.HostedPage{}, err
	}
	if !known.closed && known.amount != r.Amount {
		return paymentports.HostedPage{}, fault.ErrInternal.WithCause(errKeyReused)
	}
	for range maxSteps {
		out, done, err := p.openStep(ctx, known, &r)
		if err != nil || done {
			return out, err
		}
		if known, err = p.store.load(ctx, r.PaymentID); err != nil {
			return paymentports.HostedPage{}, err
		}
	}
	return paymentports.HostedPage{}, answered(errContended)
}

// openStep makes one step towards an open payment page; done reports whether out is its address or the return
// URL.
func (p *Provider) openStep(ctx context.Context, known *record,
	r *paymentports.HostedPageRequest) (out paymentports.HostedPage, done bool, err error) {
	back := paymentports.HostedPage{Ref: known.ref(), URL: r.ReturnURL}
	o := known.current()
	switch {
	case known.closed, known.paidRef != "":
		return back, true, nil
	case o == nil && known.kind == deposit.PaymentKindFee && known.lastPage() != nil:
		// A fee's payment page is never replaced, so this fee can no longer be paid.
		return back, true, nil
	case o == nil:
		return out, false, p.addPage(ctx, known, *r)
	case o.kind == intent:
		ended, err := p.end(ctx, known, o)
		if err == nil && ended.status == live {
			err = answered(errors.New("stripe: a charge without the tenant is being processed"))
		}
		return out, false, err
	}
	now, err := p.fetch(ctx, known, o)
	switch {
	case err != nil:
		return out, false, err
	case now.status == live && now.url != "":
		return p.stillOpen(ctx, known, paymentports.HostedPage{Ref: o.ref, URL: now.url})
	case now.status == live:
		return paymentports.HostedPage{Ref: o.ref, URL: r.ReturnURL}, true, nil
	case o.refusal != nil && o.refusal.code == string(stripe.ErrorCodeEmailInvalid) && r.Email != "":
		// Stripe refused the e-mail address: request the page without it, so that the tenant can type another one there.
		r.Email = ""
	case o.refusal != nil && o.refusal.param == paramEnd:
		// Stripe refused to repeat the request because its page would live too short; the next step requests another.
	case o.refusal != nil:
		return out, false, p.failed(ctx, o.refusal)
	}
	return out, false, nil
}

// stillOpen returns a payment page and whether it is open: another process may have closed the payment
// meanwhile.
func (p *Provider) stillOpen(ctx context.Context, known *record,
	out paymentports.HostedPage) (paymentports.HostedPage, bool, error) {
	again, err := p.store.load(ctx, known.id)
	if err != nil {
		return paymentports.HostedPage{}, false, err
	}
	o := again.current()
	return out, !again.closed && o != nil && o.state == live && o.ref == out.Ref, nil
}

// addPage stores another payment page, to be made at Stripe. It is no error if another process stored one
// first.
func (p *Provider) addPage(ctx context.Context, known *record, r paymentports.HostedPageRequest) error {
	now := p.clock.Now()
	number := known.next(page)
	err := p.store.add(ctx, r.PaymentID, page, number, pageRequest(r, number, now), now)
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// LookupPayment returns the state of a payment, after a query of Stripe where the stored state is not final.
func (p *Provider) LookupPayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	known, err := p.store.load(ctx, paymentID)
	if err != nil || known == nil {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentUnknown}, err
	}
	o := known.current()
	if o == nil || (o.state == paid && known.kind != deposit.PaymentKindFee) || (o.kind == intent && o.ref == "") {
		// The payment has ended, or no charge was sent. A paid fee is queried at Stripe all the same, for its time of
		// payment.
		return p.answer(ctx, known)
	}
	now, err := p.fetch(ctx, known, o)
	switch {
	case err != nil:
		return paymentports.ProviderPayment{}, err
	case now.status == live && (o.kind == page || now.stuck):
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen, Ref: o.ref}, nil
	case now.status == live:
		if err := p.learn(ctx, known, o, now.intent); err != nil {
			return paymentports.ProviderPayment{}, err
		}
	}
	return p.answer(ctx, known)
}

// answer returns the state of a payment from the adapter's tables.
func (p *Provider) answer(ctx context.Context, known *record) (paymentports.ProviderPayment, error) {
	switch {
	case known.paidRef != "":
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentSucceeded, Ref: known.paidRef,
			PaidAt: known.paidAt}, nil
	case known.closed:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentClosed, Ref: known.ref()}, nil
	case known.kind == deposit.PaymentKindCollection:
		last, err := p.store.lastAnswer(ctx, known.id)
		if err != nil || last == nil {
			return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentUnknown, Ref: known.ref()}, err
		}
		return last.payment(known), nil
	case known.lastPage() == nil:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentUnknown}, nil
	}
	return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentClosed, Ref: known.ref()}, nil
}

func (p *Provider) ClosePayment(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
	if err := p.store.shut(ctx, paymentID, p.clock.Now()); err != nil {
		return paymentports.ProviderPayment{}, err
	}
	known, err := p.store.load(ctx, paymentID)
	if err != nil {
		return paymentports.ProviderPayment{}, err
	}
	if known == nil {
		return paymentports.ProviderPayment{},
			fault.ErrInternal.WithCause(fmt.Errorf("stripe: payment %s vanished", id.Payment.Of(paymentID)))
	}
	o := known.current()
	switch {
	case o == nil, o.state == paid && known.kind != deposit.PaymentKindFee:
		return p.answer(ctx, known)
	case o.state == paid:
		return p.LookupPayment(ctx, paymentID)
	}
	now, err := p.end(ctx, known, o)
	switch {
	case err != nil:
		return paymentports.ProviderPayment{}, err
	case now.status == live:
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentOpen, Ref: o.ref}, nil
	}
	return p.answer(ctx, known)
}
