package stripe

import (
	"context"
	"net/http"
	"net/url"

	"github.com/stripe/stripe-go/v85"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	paymentports "partnerdeposits/ports/payments"
)

// CheckSettings checks the two secrets of Stripe without a request.
func CheckSettings(key, webhook secret.Text, production bool) paymentports.ProviderSettings {
	found := paymentports.ProviderSettings{Mode: "test mode"}
	if IsLiveKey(key) {
		found.Mode = "live mode"
	}
	switch {
	case IsLiveKey(key) && !production:
		found.Problem = "STRIPE_SECRET_KEY is a live key outside production: real cards are charged"
		found.Remedy = "Use a key of test mode (sk_test_… or rk_test_…) here."
	case webhook == "" && production:
		found.Problem = "STRIPE_WEBHOOK_SECRET is not set: Stripe's webhooks are refused"
		found.Remedy = "Make a webhook endpoint for " + callbackPath + " at Stripe and set its secret. " +
			"Until then payments are noticed within five minutes."
	}
	return found
}

// EraseCustomer deletes the customer of a fee at Stripe, and with it the saved card.
func (p *Provider) EraseCustomer(ctx context.Context, feePaymentID id.ID) error {
	known, err := p.store.load(ctx, feePaymentID)
	if err != nil || known == nil {
		return err
	}
	// The customer of a page that was paid a moment ago may not be in the tables yet, so query Stripe first.
	if o := known.current(); o != nil && o.state == live {
		if _, err := p.fetch(ctx, known, o); err != nil {
			return err
		}
		if known, err = p.store.load(ctx, feePaymentID); err != nil {
			return err
		}
	}
	if known.customer != "" {
		var gone stripe.Customer
		_, err := p.api.send(ctx,
			request{call: "forget", method: http.MethodDelete, path: customersPath + "/" + known.customer}, &gone)
		if no := asRefused(err); err != nil && (no == nil || no.status != http.StatusNotFound) {
			return p.failed(ctx, err)
		}
	}
	return p.store.forget(ctx, feePaymentID, p.clock.Now())
}

// CheckAccount tests the access to Stripe. In test mode it makes a payment page and an intent and ends both; in live
// mode it only reads.
func (p *Provider) CheckAccount(ctx context.Context) ([]paymentports.ProviderCheck, error) {
	mode := "test mode"
	if p.live {
		mode = "live mode"
	}
	list := []paymentports.ProviderCheck{{Name: "key", OK: true, Detail: mode}, p.checkSecret()}
	one := url.Values{"limit": {"1"}}
	for _, each := range []struct {
		name string
		read func() error
	}{
		{"read sessions", func() error { return p.api.get(ctx, sessionsPath, one, &stripe.CheckoutSessionList{}) }},
		{"read intents", func() error { return p.api.get(ctx, intentsPath, one, &stripe.PaymentIntentList{}) }},
		{"read charges", func() error { return p.api.get(ctx, chargesPath, one, &stripe.ChargeList{}) }},
		{"read refunds", func() error { return p.api.get(ctx, refundsPath, one, &stripe.RefundList{}) }},
		{"read disputes", func() error { return p.api.get(ctx, disputesPath, one, &stripe.DisputeList{}) }},
	} {
		list = append(list, checked(each.name, each.read()))
	}
	if !p.live {
		list = append(list, checked("make and end a page", p.tryPage(ctx)),
			checked("make and end an intent", p.tryIntent(ctx)))
	}
	return list, nil
}

func (p *Provider) checkSecret() paymentports.ProviderCheck {
	if p.webhook == "" {
		return paymentports.ProviderCheck{Name: "webhook secret",
			Detail: "STRIPE_WEBHOOK_SECRET is not set: webhooks are refused, and payments are noticed later"}
	}
	return paymentports.ProviderCheck{Name: "webhook secret", OK: true, Detail: "set"}
}

// checked turns the result of a request to Stripe into a line of the report, without texts of Stripe.
func checked(name string, err error) paymentports.ProviderCheck {
	if err == nil {
		return paymentports.ProviderCheck{Name: name, OK: true, Detail: "answered"}
	}
	if no := asRefused(err); no != nil {
		return paymentports.ProviderCheck{Name: name, Detail: no.Error()}
	}
	return paymentports.ProviderCheck{Name: name, Detail: "cannot be reached: " + err.Error()}
}

// trial returns the id of a payment that does not exist, for requests that only test the access to Stripe.
func (p *Provider) trial() id.ID {
	var made id.ID
	copy(made[:], p.clock.Now().Format("check0102150405.000"))
	return made
}

func (p *Provider) tryPage(ctx context.Context) error {
	var made, ended stripe.CheckoutSession
	r := paymentports.HostedPageRequest{PaymentID: p.trial(), Amount: trialAmount, Description: "admin payments check",
		ReturnURL: "https://example.com/"}
	if _, err := p.api.send(ctx, request{call: "check", method: http.MethodPost, path: sessionsPath,
		body: pageRequest(r, 1, p.clock.Now())}, &made); err != nil {
		return err
	}
	_, err := p.api.send(ctx, expireRequest(made.ID), &ended)
	return err
}

const trialAmount = 500

func (p *Provider) tryIntent(ctx context.Context) error {
	var made, ended stripe.PaymentIntent
	r := paymentports.CollectRequest{PaymentID: p.trial(), Amount: trialAmount, Description: "admin payments check"}
	if _, err := p.api.send(ctx, request{call: "check", method: http.MethodPost, path: intentsPath,
		body: intentRequest(r, 1, "")}, &made); err != nil {
		return err
	}
	_, err := p.api.send(ctx, cancelRequest(made.ID), &ended)
	return err
}
