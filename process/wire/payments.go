package wire

import (
	"github.com/gofiber/fiber/v2"

	paymentsnone "partnerdeposits/adapters/payments/none"
	paymentssandbox "partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/core/partner"
	paymentports "partnerdeposits/ports/payments"
	"partnerdeposits/process/config"
)

// ProviderPorts are abilities that only some payment providers have. Each is nil for a provider without.
type ProviderPorts struct {
	Callbacks paymentports.Callbacks
	Books     paymentports.PaymentBooks
	Eraser    paymentports.PaymentEraser
	Checker   paymentports.PaymentChecker
}

// setPayments chooses scoring and the payment provider. Production decides about no applicant.
func (p *Parts) setPayments(cfg config.Config, stores Stores) {
	p.Scoring = scoring.Sandbox{}
	if cfg.Environment == partner.Production {
		p.Scoring = scoring.None{}
	}
	switch cfg.Payments() {
	case config.PaymentsStripe:
		p.setStripe(cfg, stores)
	case config.PaymentsSandbox:
		sandbox := paymentssandbox.New(stores.Pool, cfg.DashboardBaseURL, p.Entropy, p.Clock)
		p.Provider, p.Simulator, p.Books = sandbox, sandbox, sandbox
		p.PayPage = func(r fiber.Router) { paymentssandbox.Mount(r, sandbox) }
	default:
		p.Provider = paymentsnone.Provider{}
	}
}

// PaymentSettings is what the chosen provider makes of its settings, without a request.
func PaymentSettings(cfg config.Config) paymentports.PaymentSettings {
	if cfg.Payments() == config.PaymentsStripe {
		return stripeSettings(cfg)
	}
	return paymentports.PaymentSettings{}
}

// warnWithoutPayments logs that checkout cannot take payments.
func (p *Parts) warnWithoutPayments() {
	if _, none := p.Provider.(paymentsnone.Provider); none {
		p.Log.Warn("no payment provider is set up: tenants are told to come back later")
	}
}
