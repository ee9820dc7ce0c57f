package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"partnerdeposits/core/partner"
)

var (
	stripeKey     = regexp.MustCompile(`^[sr]k_(test|live)_[A-Za-z0-9_]+$`)
	stripeTestKey = regexp.MustCompile(`^[sr]k_test_`)
)

func isPaymentsProvider(text string, _ setting, c Config) error {
	last := len(PaymentsProviders) - 1
	switch {
	case !slices.Contains(PaymentsProviders, text):
		return fmt.Errorf("%q is not %s or %s", text, strings.Join(PaymentsProviders[:last], ", "), PaymentsProviders[last])
	case text == PaymentsSandbox && c.Environment == partner.EnvironmentProduction:
		return errors.New("is sandbox, which takes no money: production needs stripe, or none to take no payments")
	}
	return nil
}

func isStripeKey(text string, _ setting, c Config) error {
	switch {
	case !stripeKey.MatchString(text):
		return errors.New("is not a secret key of Stripe, which begins with sk_live_, rk_live_, sk_test_ or rk_test_")
	case stripeTestKey.MatchString(text) && c.Environment == partner.EnvironmentProduction:
		return errors.New("is a key of test mode, which takes no money: production needs sk_live_… or rk_live_…")
	}
	return nil
}

func isStripeWebhookSecret(text string, _ setting, _ Config) error {
	if !strings.HasPrefix(text, "whsec_") {
		return errors.New("is not the secret of a webhook endpoint of Stripe, which begins with whsec_")
	}
	return nil
}

func isStripeBase(text string, _ setting, c Config) error {
	u, err := url.Parse(text)
	if err != nil || !isHTTP(text) || (u.Path != "" && u.Path != "/") || u.User != nil || strings.ContainsAny(text, "?#") {
		return errors.New("is not an origin such as https://api.stripe.com")
	}
	// Every request contains Stripe's secret key, which an unencrypted connection would expose.
	if u.Scheme != "https" && c.Environment == partner.EnvironmentProduction {
		return errors.New("must be https in production")
	}
	return nil
}

func (c Config) paymentsTogether(found mistakes) {
	if c.PaymentsProviderOrDefault() == PaymentsStripe && c.StripeSecretKey == "" {
		found.add("STRIPE_SECRET_KEY", "is required with PAYMENTS_PROVIDER=stripe, such as rk_live_…")
	}
}
