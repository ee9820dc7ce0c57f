package mails_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
)

func TestTwoFactor_TellsOfEachChange(t *testing.T) {
	m := mails.TwoFactor{Operator: ada("en"), Change: mails.TwoFactorOff, DashboardURL: "https://dash.example/"}
	mail := m.Mail(id.ID{1}, now)
	require.Equal(t, "ada@gites.example", mail.To)
	require.Equal(t, "Two-factor codes are off", mail.Subject)
	require.Equal(t, `Hello,

Two-factor codes were turned off for your account on 21 November 2026, 10:00 UTC.

From now on the password alone is enough to log in.

Open your settings:
https://dash.example/dashboard/settings

If this was not you, change your password at once and tell our support.

--
Rental deposits
You get this mail because it concerns the security of your account.
`, plain(mail.Body))

	m.Operator = ada("fr")
	m.Change = mails.RecoveryCodeUsed
	mail = m.Mail(id.ID{1}, now)
	require.Equal(t, "Un code de secours a été utilisé", mail.Subject)
	require.Equal(t, `Bonjour,

Un code de secours de votre compte a été utilisé le 21 novembre 2026, 10:00 UTC.

Il ne fonctionne plus. Vos réglages indiquent combien il en reste.

Ouvrir vos réglages :
https://dash.example/dashboard/settings

Si ce n’était pas vous, changez aussitôt votre mot de passe et prévenez notre assistance.

--
Cautions locatives
Vous recevez cet e-mail car il concerne la sécurité de votre compte.
`, plain(mail.Body))

	for _, locale := range []string{"en", "fr"} {
		seen := map[string]bool{}
		m.Operator = ada(locale)
		for _, m.Change = range mails.TwoFactorChanges {
			mail := m.Mail(id.ID{1}, now)
			require.NotEmpty(t, mail.Subject, m.Change)
			require.False(t, seen[mail.Subject], m.Change)
			seen[mail.Subject] = true
			require.Contains(t, plain(mail.Body), " 2026, 10:00 UTC.", m.Change)
			require.NotContains(t, mail.Body, "%!")
		}
	}
}
