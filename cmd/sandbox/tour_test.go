package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
)

// Package lab/e2e runs the tours of running sandboxes; these are the words for settings that none of them has.
func TestDemoOf_TellsWhereMailsGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  config.Config
		want string
	}{
		{config.Config{Environment: partner.EnvironmentDevelopment, DashboardBaseURL: "http://x"}, "http://x/sandbox/mails"},
		{config.Config{Environment: partner.EnvironmentStaging}, "wait in the database, since SMTP_URL is not set"},
		{config.Config{Environment: partner.EnvironmentStaging, SMTPURL: "smtp://user:password@host:25"},
			"go out through the mail server of SMTP_URL, host:25"},
	} {
		d := demoOf(c.cfg, false, "")
		require.Equal(t, c.want, d.mails)
		require.Equal(t, c.cfg.Environment == partner.EnvironmentDevelopment, d.components)
	}
}

func TestDemoOf_ChoosesWhoPays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider string
		faked    bool
		want     payer
	}{
		{"", false, simulated}, {config.PaymentsSandbox, false, simulated}, {config.PaymentsStripe, true, onFake},
		{config.PaymentsStripe, false, person}, {config.PaymentsNone, false, nobody},
	} {
		require.Equal(t, c.want, demoOf(config.Config{PaymentsProvider: c.provider}, c.faked, "").payer, c.provider)
	}
}
