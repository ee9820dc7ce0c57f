package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// listSlack is the greatest clock difference to Stripe at which a search by time finds every object.
const listSlack = 10 * time.Minute

// fetch returns the state at Stripe of a live page or intent, which it makes there if necessary, and stores its
// end.
func (p *Provider) fetch(ctx context.Context, r *record, o *item) (seen, error) {
	if o.ref == "" {
		fresh, err := p.make(ctx, r, o)
		switch {
		case err != nil:
			return seen{}, err
		case o.state == dead:
			return seen{status: dead}, nil
		case fresh != nil:
			return *fresh, nil
		}
	}
	now, err := p.look(ctx, r, o)
	if err != nil {
		return seen{}, err
	}
	return now, p.record(ctx, r, o, now)
}

// record stores the end of a payment page or intent at Stripe, paid or dead; nothing while it is live.
func (p *Provider) record(ctx context.Context, r *record, o *item, now seen) error {
	o.state = now.status
	switch now.status {
	case paid:
		r.paidRef, r.customer, r.method, r.paidAt = now.ref, now.customer, now.method, now.paidAt
		return p.store.pay(ctx, r.id, o, now.ref, now.customer, now.method)
	case dead:
		return p.store.bury(ctx, r.id, o)
	}
	return nil
}

// look queries Stripe for the state of a payment page or intent with a stored id.
func (p *Provider) look(ctx context.Context, r *record, o *item) (seen, error) {
	if o.kind == page {
		var session stripe.CheckoutSession
		expanded := url.Values{"expand[0]": {"payment_intent.latest_charge"}}
		if err := p.api.get(ctx, sessionsPath+"/"+o.ref, expanded, &session); err != nil {
			return seen{}, p.failed(ctx, err)
		}
		return r.session(o, &session)
	}
	var found stripe.PaymentIntent
	if err := p.api.get(ctx, intentsPath+"/"+o.ref, url.Values{"expand[0]": {"latest_charge"}}, &found); err != nil {
		return seen{}, p.failed(ctx, err)
	}
	return r.intent(o, &found)
}

// make sends the stored request for a page or intent and stores Stripe's id; nil for an object that existed
// before or was never made.
func (p *Provider) make(ctx context.Context, r *record, o *item) (*seen, error) {
	now := p.clock.Now()
	if now.Sub(o.firstAt) >= keyLife {
		return nil, p.find(ctx, r, o, now.Sub(o.firstAt) >= lateness)
	}
	if err := p.store.sending(ctx, r.id, o, now); err != nil {
		return nil, err
	}
	var (
		session  stripe.CheckoutSession
		made     stripe.PaymentIntent
		replayed bool
		err      error
	)
	send := request{call: "open", method: http.MethodPost, path: sessionsPath, key: pageKey(r.id, o.number),
		body: o.request}
	if o.kind == page {
		replayed, err = p.api.send(ctx, send, &session)
	} else {
		send.call, send.path, send.key = "intent", intentsPath, intentKey(r.id, o.number)
		replayed, err = p.api.send(ctx, send, &made)
	}
	no := asRefused(err)
	switch {
	case no != nil && no.spent():
		return nil, p.find(ctx, r, o, true)
	case no != nil && no.definite():
		p.log.WarnContext(ctx, "Stripe refused to make an object", "payment", id.Payment.Of(r.id), "object",
			nameOf(o.kind, o.number), "error", no)
		o.state, o.refusal = dead, no
		return nil, p.store.bury(ctx, r.id, o)
	case err != nil:
		return nil, p.failed(ctx, err)
	}
	state, err := r.session(o, &session)
	ref := session.ID
	if o.kind == intent {
		state, err = r.intent(o, &made)
		ref = made.ID
	}
	if err != nil {
		return nil, err
	}
	o.ref = ref
	if err := p.store.made(ctx, r.id, o, o.ref); err != nil || replayed {
		return nil, err
	}
	return &state, nil
}

// find searches Stripe's lists for the page or intent of a request too old to repeat under its Idempotency-Key.
// over reports that an object which is not found was never made.
func (p *Provider) find(ctx context.Context, r *record, o *item, over bool) error {
	between := span(o.firstAt.Add(-listSlack), p.clock.Now().Add(listSlack))
	ref := ""
	note := func(found string, metadata map[string]string) bool {
		if metadata[metaPayment] == id.Payment.Of(r.id) && metadata[metaObject] == nameOf(o.kind, o.number) {
			ref = found
		}
		return ref == ""
	}
	var err error
	if o.kind == page {
		err = eachSession(ctx, p.api, between, func(s *stripe.CheckoutSession) bool { return note(s.ID, s.Metadata) })
	} else {
		err = eachIntent(ctx, p.api, between, func(i *stripe.PaymentIntent) bool { return note(i.ID, i.Metadata) })
	}
	switch {
	case err != nil:
		return p.failed(ctx, err)
	case ref != "":
		o.ref = ref
		return p.store.made(ctx, r.id, o, ref)
	case !over:
		return fault.ErrUnavailable.WithCause(errUnanswered)
	}
	o.state = dead
	return p.store.bury(ctx, r.id, o)
}

// errUnanswered is the error for a request to Stripe without response, too old to be repeated and too young to
// be given up.
var errUnanswered = errors.New("stripe: a request was not answered for 22 hours; it is given up after 23")

// end makes sure that a live page or intent can no longer be paid. The state stays live if it cannot be ended
// now.
func (p *Provider) end(ctx context.Context, r *record, o *item) (seen, error) {
	if o.ref == "" {
		if _, err := p.make(ctx, r, o); err != nil {
			return seen{}, err
		}
		if o.state == dead {
			return seen{status: dead}, nil
		}
	}
	var (
		session  stripe.CheckoutSession
		canceled stripe.PaymentIntent
		now      seen
		err      error
	)
	if o.kind == page {
		if _, err = p.api.send(ctx, expireRequest(o.ref), &session); err == nil {
			now, err = r.session(o, &session)
		}
	} else {
		if _, err = p.api.send(ctx, cancelRequest(o.ref), &canceled); err == nil {
			now, err = r.intent(o, &canceled)
		}
	}
	// Query the state again, since Stripe refused to end the page or intent.
	if no := asRefused(err); no != nil && no.definite() {
		now, err = p.look(ctx, r, o)
	}
	if err != nil {
		return seen{}, p.failed(ctx, err)
	}
	return now, p.record(ctx, r, o, now)
}

// failed turns an error of Stripe into service_unavailable, and logs an error that only staff can correct.
func (p *Provider) failed(ctx context.Context, err error) error {
	no := asRefused(err)
	if no == nil {
		return err
	}
	if no.status < http.StatusInternalServerError && no.status != http.StatusTooManyRequests &&
		no.status != http.StatusConflict {
		p.log.ErrorContext(ctx, "Stripe refuses requests: run `admin payments check`", "error", no)
	}
	if no.read() {
		return answered(no)
	}
	return fault.ErrUnavailable.WithCause(no)
}

// learn stores the refusal of an attempt whose response was lost, by a charge at Stripe that is newer than the
// attempt.
func (p *Provider) learn(ctx context.Context, known *record, o *item, i *stripe.PaymentIntent) error {
	a, err := p.store.lastAttempt(ctx, known.id)
	if err != nil || a == nil || a.answered || a.intent != o.number || latestCharge(i) == a.before ||
		i.LastPaymentError == nil {
		return err
	}
	a.charge = latestCharge(i)
	a.failure, a.refusal = classify(string(i.LastPaymentError.Code), string(i.LastPaymentError.DeclineCode),
		adviceOf(i.LatestCharge))
	_, err = p.store.answer(ctx, known.id, *a)
	return err
}

func latestCharge(i *stripe.PaymentIntent) string {
	if i == nil || i.LatestCharge == nil {
		return ""
	}
	return i.LatestCharge.ID
}
