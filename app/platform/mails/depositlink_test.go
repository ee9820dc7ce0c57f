package mails_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

const linkURL = "https://dash.example/checkout/tok-en_1"

func link(locale string) mails.DepositLink {
	return mails.DepositLink{
		To: "jeanne@example.com", Locale: locale, Company: "Gîtes d’Ada", URL: linkURL,
		Deposit: &deposit.Deposit{
			ID: id.ID{7}, Reference: "D-7K3M-9Q2X", PartnerName: "Acme",
			CheckoutExpiresAt: time.Date(2026, 12, 8, 10, 0, 0, 0, time.UTC),
			Draft: deposit.Draft{
				Amount: 125_000, RentalContract: "BK-2026/17", ContractStartAt: time.Date(2026, 12, 1, 15, 0, 0, 0, time.UTC),
				ContractEndAt: time.Date(2026, 12, 8, 10, 0, 0, 0, time.UTC),
			},
		},
	}
}

func TestDepositLink_InEnglish(t *testing.T) {
	m := link("en-GB").Mail(id.ID{1}, now)
	require.Equal(t, []any{id.ID{1}, "jeanne@example.com", now, id.ID{7}}, []any{m.ID, m.To, m.CreatedAt, m.LinkOf})
	require.Equal(t, "Your rental deposit", m.Subject)
	require.Equal(t, `Hello,

Gîtes d’Ada asks you for a deposit of €1,250.00 for your rental.

  Rental period: 1 December 2026 to 8 December 2026
  Booking: BK-2026/17
  Reference: D-7K3M-9Q2X

Secure the deposit:
https://dash.example/checkout/tok-en_1

The deposit itself is not blocked on your card. The page shows the fee before you pay. The link works until 8 December 2026.

--
Rental deposits
Acme asked us to send you this mail for Gîtes d’Ada. If you do not know this rental, ignore the mail.
`, plain(m.Body))
	require.Contains(t, m.HTML, `href="`+linkURL+`"`)
	require.NotContains(t, m.HTML, `lang="fr"`)
}

func TestDepositLink_InFrench(t *testing.T) {
	m := link("fr").Mail(id.ID{1}, now)
	require.Equal(t, "Votre caution de location", m.Subject)
	require.Equal(t, `Bonjour,

Gîtes d’Ada vous demande une caution de 1 250,00 € pour votre location.

  Période de location : du 1er décembre 2026 au 8 décembre 2026
  Réservation : BK-2026/17
  Référence : D-7K3M-9Q2X

Garantir la caution :
https://dash.example/checkout/tok-en_1

La caution elle-même n’est pas bloquée sur votre carte. La page indique les frais avant le paiement. Le lien fonctionne jusqu’au 8 décembre 2026.

--
Cautions locatives
Acme nous a demandé de vous envoyer cet e-mail pour Gîtes d’Ada. Si cette location ne vous dit rien, ignorez-le.
`, plain(m.Body))
	require.NotContains(t, m.HTML, `lang="en"`)
}

func TestDepositLink_WithoutALocale_IsInBothLanguages(t *testing.T) {
	m := link("").Mail(id.ID{1}, now)
	require.Equal(t, "Your rental deposit / Votre caution de location", m.Subject)
	require.Equal(t, 1, strings.Count(m.Body, "\n* * *\n"))
	require.Contains(t, m.HTML, `lang="en"`)
	require.Contains(t, m.HTML, `lang="fr"`)
}

// Names and the rental contract come from partners and operators; the mail goes where they say.
func TestDepositLink_TextOfOthers_IsOneLineWithoutMarkup(t *testing.T) {
	for _, hostile := range hostileNames {
		m := link("en")
		m.Company, m.Deposit.PartnerName, m.Deposit.RentalContract = hostile, hostile, hostile
		got := m.Mail(id.ID{1}, now)
		requireHarmless(t, got, hostile)
		require.NotContains(t, got.Body, "Booking:")
		require.Equal(t, strings.Count(link("en").Mail(id.ID{1}, now).Body, "\n")-1, strings.Count(got.Body, "\n"),
			"%q adds no line", hostile)
		require.Equal(t, 1, countLinks(got.HTML), "%q", hostile)
	}
	for contract, shown := range map[string]bool{
		"BK_1#2": true, "": false, "evil.example": false, "call 0900 123": false, "a:b": false, "@x": false, "é": false,
		strings.Repeat("1", 40): true, strings.Repeat("1", 41): false,
	} {
		m := link("en")
		m.Deposit.RentalContract = contract
		require.Equal(t, shown, strings.Contains(m.Mail(id.ID{1}, now).Body, "Booking: "), contract)
	}
}

func TestDepositLink_ThatTheOperatorSends_NamesTheCompanyAlone(t *testing.T) {
	m := link("")
	m.ByCompany = true
	got := m.Mail(id.ID{1}, now)
	for _, part := range []string{got.Body, got.HTML} {
		require.Contains(t, part, "asked us to send you this mail. If")
		require.Contains(t, part, "nous a demandé de vous envoyer cet e-mail. Si")
		require.NotContains(t, part, "Acme", "the partner did not ask for this mail")
	}
}
