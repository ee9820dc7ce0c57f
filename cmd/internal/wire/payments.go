package wire

import (
	"github.com/gofiber/fiber/v2"

	paymentsnone "partnerdeposits/adapters/payments/none"
	paymentssandbox "partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/scoring"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/core/partner"
)

// setPayments chooses the payment provider and scoring: the sandbox's outside production, none in production.
func (p *Parts) setPayments(cfg config.Config, stores Stores) {
	if cfg.Environment == partner.Production {
		p.Scoring, p.Provider = scoring.None{}, paymentsnone.Provider{}
		return
	}
	sandbox := paymentssandbox.New(stores.Pool, cfg.DashboardBaseURL, p.Entropy, p.Clock)
	p.Scoring, p.Provider, p.Simulator = scoring.Sandbox{}, sandbox, sandbox
	p.PayPage = func(r fiber.Router) { paymentssandbox.Mount(r, sandbox) }
}

// warnWithoutPayments logs that checkout cannot take payments.
func (p *Parts) warnWithoutPayments() {
	if _, none := p.Provider.(paymentsnone.Provider); none {
		p.Log.Warn("no payment provider is set up for production: tenants are told to come back later")
	}
}
