package admin

import (
	"fmt"

	"partnerdeposits/process/config"
	"partnerdeposits/process/services"
	"partnerdeposits/process/wire"
)

type paymentsCheck struct{}

// errNoChecks is the error for a payment provider without account or settings to check.
func errNoChecks(provider string) error {
	return codedError{"provider_has_no_checks", fmt.Errorf("PAYMENTS_PROVIDER is %s: there is nothing to check", provider)}
}

// Run checks the payment provider's account and settings with real requests.
func (paymentsCheck) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, cfg config.Config) error {
		if a.Checker == nil {
			return errNoChecks(cfg.PaymentsProviderOrDefault())
		}
		lines, err := a.Checker.CheckAccount(c.ctx)
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
			err = c.answer(fields{{"ok", healthy}, {"provider", cfg.PaymentsProviderOrDefault()}, {"checks", rows}})
		} else {
			err = c.list("checks", rows)
		}
		if err == nil && !healthy {
			return errUnwell
		}
		return err
	})
}

// paymentSettings returns the finding about the payment provider's settings, without a request to it.
func paymentSettings(cfg config.Config) finding {
	found := services.PaymentProviderSettings(cfg)
	if found.Problem != "" {
		return bad("payments", found.Problem, found.Remedy)
	}
	f := finding{name: "payments", detail: cfg.PaymentsProviderOrDefault()}
	if found.Mode != "" {
		f.detail += ", " + found.Mode
	}
	return f
}
