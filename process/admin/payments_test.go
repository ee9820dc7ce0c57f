package admin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
)

func TestDoctor_PaymentsOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                    string
		cfg                     config.Config
		wantDetail, wantProblem string
	}{
		{"sandbox", config.Config{Environment: partner.EnvironmentDevelopment}, "sandbox", ""},
		{"none", config.Config{Environment: partner.EnvironmentProduction, PaymentsProvider: "none"}, "none", ""},
		{"test", config.Config{PaymentsProvider: "stripe", StripeSecretKey: "rk_test_1"}, "stripe, test mode", ""},
		{"live", config.Config{Environment: partner.EnvironmentProduction, PaymentsProvider: "stripe", StripeSecretKey: "sk_live_1",
			StripeWebhookSecret: "whsec_1"}, "stripe, live mode", ""},
		{"live in staging", config.Config{Environment: partner.EnvironmentStaging, PaymentsProvider: "stripe",
			StripeSecretKey: "sk_live_1"}, "", "real cards are charged"},
		{"no webhooks", config.Config{Environment: partner.EnvironmentProduction, PaymentsProvider: "stripe",
			StripeSecretKey: "rk_live_1"}, "", "STRIPE_WEBHOOK_SECRET is not set"},
	} {
		got := paymentSettings(c.cfg)
		require.Equal(t, c.wantDetail, got.detail, c.name)
		require.Contains(t, got.problem, c.wantProblem, c.name)
		require.Equal(t, c.wantProblem == "", got.problem == "", c.name)
		require.NotContains(t, got.problem+got.remedy, "_live_1", c.name)
	}
}
