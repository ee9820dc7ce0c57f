//go:build !lean

package wire

import (
	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/core/partner"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/process/config"
)

// leftOut returns no error: this binary has every part. See lean.go.
func leftOut(config.Config) error { return nil }

func (p *Parts) setStripe(cfg config.Config, stores Stores) {
	provider := stripe.New(stripe.Options{
		Pool: stores.Pool, Clock: p.Clock, Log: p.Log,
		SecretKey: cfg.StripeSecretKey, WebhookSecret: cfg.StripeWebhookSecret, BaseURL: cfg.StripeAPIBase,
	})
	p.Provider = provider
	p.ProviderPorts = ProviderPorts{
		Callbacks: provider, Books: provider, Eraser: provider, Checker: provider,
	}
}

func stripeSettings(cfg config.Config) paymentports.PaymentSettings {
	return stripe.Settings(cfg.StripeSecretKey, cfg.StripeWebhookSecret, cfg.Environment == partner.Production)
}
