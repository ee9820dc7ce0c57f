package mails_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
)

func fee(locale string) mails.FeePaid {
	return mails.FeePaid{
		To: "jeanne@example.com", Locale: locale, Deposit: securedDeposit(), Company: "Gîtes d’Ada", Fee: 4_375, PaidAt: now,
		Words: "These words.",
		Imprint: agreement.Imprint{TermsURL: "https://example.com/terms", PrivacyURL: "https://example.com/privacy",
			SupportEmail: "help@example.com"},
	}
}

func TestFeePaid_InEnglish(t *testing.T) {
	m := fee("en").Mail(id.ID{1}, now)
	require.Equal(t, []any{id.ID{1}, "jeanne@example.com", now}, []any{m.ID, m.To, m.CreatedAt})
	require.Equal(t, "You paid a fee of €43.75, and your deposit is secured", m.Subject)
	require.Contains(t, plain(m.Body),
		`You paid a fee of €43.75 to secure the deposit of €1,250.00 for Gîtes d’Ada. Nothing else was charged, and nothing is blocked on your card.`)
	require.Contains(t, plain(m.Body), `  Covered until: 22 December 2026, 10:00 UTC

You agreed to these words:

These words.

Questions, or do you object? Write to help@example.com.

Terms: https://example.com/terms

Privacy: https://example.com/privacy

--
Rental deposits
You get this mail because you paid this fee.
`)
	require.Contains(t, m.HTML, "These words.")
}

func TestFeePaid_InFrench_WithoutAddresses(t *testing.T) {
	f := fee("fr")
	f.Imprint = agreement.Imprint{}
	m := f.Mail(id.ID{1}, now)
	require.Equal(t, "Vous avez payé des frais de 43,75 € : votre caution est garantie", plain(m.Subject))
	require.Contains(t, plain(m.Body), "Vous avez accepté ces termes :\n\nThese words.\n\n--\n")
}

func TestFeePaid_HostileNames_StayOneLine(t *testing.T) {
	for _, name := range hostileNames {
		f := fee("")
		f.Company, f.Words = name, agreement.Terms{Company: name, Imprint: f.Imprint}.Words("en")
		requireHarmless(t, f.Mail(id.ID{1}, now), name)
	}
}
