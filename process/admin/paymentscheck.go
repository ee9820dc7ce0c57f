package admin

import (
	"fmt"

	"partnerdeposits/process/config"
	"partnerdeposits/process/services"
	"partnerdeposits/process/wire"
)

type paymentsCheck struct{}

// errNoChecks refuses a provider without account and settings to try.
func errNoChecks(provider string) error {
	return coded{"provider_has_no_checks", fmt.Errorf("PAYMENTS_PROVIDER is %s: there is nothing to check", provider)}
}

// Run tries the provider's account and settings.
func (paymentsCheck) Run(c *call) error {
	return c.with(config.Secrets, func(a *wire.Admin, cfg config.Config) error {
		if a.Checker == nil {
			return errNoChecks(cfg.Payments())
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

// paymentSettings tells the provider, and settings of it that do not fit the environment. The doctor asks no provider:
// `admin payments check` does.
func paymentSettings(cfg config.Config) finding {
	found := services.PaymentSettings(cfg)
	if found.Problem != "" {
		return bad("payments", found.Problem, found.Remedy)
	}
	f := finding{name: "payments", detail: cfg.Payments()}
	if found.Mode != "" {
		f.detail += ", " + found.Mode
	}
	return f
}
