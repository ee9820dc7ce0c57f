package services

import (
	"github.com/gofiber/fiber/v2"

	paymentsnone "partnerdeposits/adapters/payments/none"
	paymentssandbox "partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/core/partner"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/process/config"
)

// ProviderPorts holds the abilities that only some payment providers have. Each is nil if the provider lacks it.
type ProviderPorts struct {
	Callbacks paymentports.CallbackVerifier
	Books     paymentports.ProviderBookReader
	Eraser    paymentports.PaymentEraser
	Checker   paymentports.ProviderChecker
}

// setPayments chooses the payment provider and, outside production, the scoring of tenants.
func (p *Deps) setPayments(cfg config.Config, stores Stores) {
	p.Scoring = scoring.SandboxScorer{}
	if cfg.Environment == partner.EnvironmentProduction {
		p.Scoring = scoring.UnavailableScorer{}
	}
	switch cfg.PaymentsProviderOrDefault() {
	case config.PaymentsStripe:
		provider := stripe.New(stripe.Options{
			Pool: stores.Pool, Clock: p.Clock, Log: p.Log,
			SecretKey: cfg.StripeSecretKey, WebhookSecret: cfg.StripeWebhookSecret, BaseURL: cfg.StripeAPIBase,
		})
		p.Provider = provider
		p.ProviderPorts = ProviderPorts{Callbacks: provider, Books: provider, Eraser: provider, Checker: provider}
	case config.PaymentsSandbox:
		sandbox := paymentssandbox.New(stores.Pool, cfg.DashboardBaseURL, p.Entropy, p.Clock)
		p.Provider, p.Simulator, p.Books = sandbox, sandbox, sandbox
		p.PayPage = func(r fiber.Router) { paymentssandbox.Mount(r, sandbox) }
	default:
		p.Provider = paymentsnone.Provider{}
	}
}

// PaymentProviderSettings returns what the payment provider finds out about its settings without a request.
func PaymentProviderSettings(cfg config.Config) paymentports.ProviderSettings {
	if cfg.PaymentsProviderOrDefault() == config.PaymentsStripe {
		return stripe.CheckSettings(cfg.StripeSecretKey, cfg.StripeWebhookSecret,
			cfg.Environment == partner.EnvironmentProduction)
	}
	return paymentports.ProviderSettings{}
}

// WarnWithoutPayments logs a warning if no payment provider is configured.
func (p *Deps) WarnWithoutPayments() {
	if _, none := p.Provider.(paymentsnone.Provider); none {
		p.Log.Warn("no payment provider is set up: tenants are told to come back later")
	}
}
