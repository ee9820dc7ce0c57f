package main

import (
	"errors"

	"partnerdeposits/cmd/config"
	"partnerdeposits/cmd/wire"
	"partnerdeposits/core/partner"
)

type paymentsCheck struct{}

// errNoChecks: only Stripe has anything to try.
var errNoChecks = coded{"provider_has_no_checks", errors.New("PAYMENTS_PROVIDER is not stripe: there is nothing to check")}

// Run tries the provider's account and settings.
func (paymentsCheck) Run(c *call) error {
	return c.with(config.Secrets, func(a *wire.Admin, cfg config.Config) error {
		if a.Checker == nil {
			return errNoChecks
		}
		lines, err := a.Checker.Check(c.ctx)
		if err != nil {
			return err
		}
		healthy := true
		var rows []fields
		for _, line := range lines {
			healthy = healthy && line.OK
			rows = append(rows, fields{{"check", line.Name}, {"ok", line.OK}, {"finding", line.Detail}})
		}
		if c.json {
			err = c.answer(fields{{"ok", healthy}, {"provider", cfg.Payments()}, {"checks", rows}})
		} else {
			err = c.list("checks", rows)
		}
		if err == nil && !healthy {
			return errUnwell
		}
		return err
	})
}

// paymentSettings tells the provider, and settings of it that do not fit the environment. The doctor asks no provider: `admin payments check` does.
func paymentSettings(cfg config.Config) finding {
	f := finding{name: "payments", detail: cfg.Payments()}
	if cfg.Payments() != config.PaymentsStripe {
		return f
	}
	live := wire.IsLiveKey(cfg)
	f.detail = "stripe, test mode"
	if live {
		f.detail = "stripe, live mode"
	}
	switch {
	case live && cfg.Environment != partner.Production:
		return bad("payments", "STRIPE_SECRET_KEY is a live key outside production: real cards are charged", "Use a key of test mode (sk_test_… or rk_test_…) here.")
	case cfg.StripeWebhookSecret == "" && cfg.Environment == partner.Production:
		return bad("payments", "STRIPE_WEBHOOK_SECRET is not set: Stripe's webhooks are refused", "Make a webhook endpoint for /webhooks/payments/stripe at Stripe and set its secret. Until then payments are noticed within five minutes.")
	}
	return f
}
