package mails_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

func tenantMoney(locale string, kind paymentports.TenantNoticeKind) mails.TenantMoney {
	m := mails.TenantMoney{
		To: "jeanne@example.com", Locale: locale, Kind: kind, Deposit: link("").Deposit, Company: "Gîtes d’Ada",
		Amount: 18_050, Reason: "damage", Words: "Broken coffee table",
	}
	if kind == paymentports.TenantAwaited {
		m.URL = linkURL
	}
	return m
}

const rentalEN = `
  Rental period: 1 December 2026 to 8 December 2026
  Booking: BK-2026/17
  Reference: D-7K3M-9Q2X
`

const rentalFR = `
  Période de location : du 1er décembre 2026 au 8 décembre 2026
  Réservation : BK-2026/17
  Référence : D-7K3M-9Q2X
`

const objectEN = "If you do not agree, tell Gîtes d’Ada why, and name the reference. You can also object to the charge at your bank.\n"

const whyEN = "\n--\nRental deposits\nYou get this mail because you secured a rental deposit for Gîtes d’Ada."

func TestTenantMoney_Captured_TellsWhatForHowMuchWhenAndHowToObject(t *testing.T) {
	m := tenantMoney("en", paymentports.TenantCaptured).Mail(id.ID{1}, now)
	require.Equal(t, []any{id.ID{1}, "jeanne@example.com", now, id.ID{}}, []any{m.ID, m.To, m.CreatedAt, m.LinkOf})
	require.Equal(t, "Gîtes d’Ada claims €180.50 of your rental deposit", m.Subject)
	require.Equal(t, `Hello,

Gîtes d’Ada claims €180.50 of your rental deposit. The card that you paid the fee with is charged at once.

If the card is refused, we try again within some days, or mail you a link to pay with another card.

  Amount: €180.50
  Reason: Damage
  In the words of Gîtes d’Ada: Broken coffee table`+rentalEN+"\n"+objectEN+whyEN+"\n", plain(m.Body))
	later := tenantMoney("fr", paymentports.TenantCaptured)
	later.ChargedAt, later.SupportEmail = now.Add(24*time.Hour), "aide@example.com"
	m = later.Mail(id.ID{1}, now)
	require.Equal(t, "Gîtes d’Ada réclame 180,50 € de votre caution", plain(m.Subject))
	require.Equal(t, `Bonjour,

Gîtes d’Ada réclame 180,50 € de votre caution de location. La carte avec laquelle vous avez payé les frais est débitée le 22 novembre 2026.

Si la carte est refusée, nous réessayons dans les jours qui suivent ou vous envoyons un lien pour payer avec une autre carte.

  Montant : 180,50 €
  Motif : Dommage
  Précisions de Gîtes d’Ada : Broken coffee table`+rentalFR+`
Si vous n’êtes pas d’accord, dites pourquoi à Gîtes d’Ada ou écrivez à aide@example.com en indiquant la référence. Vous pouvez aussi contester le débit auprès de votre banque.

--
Cautions locatives
Vous recevez cet e-mail car vous avez garanti une caution de location pour Gîtes d’Ada.
`, plain(m.Body))
}

func TestTenantMoney_Awaited_BringsTheLinkToPay(t *testing.T) {
	m := tenantMoney("en", paymentports.TenantAwaited).Mail(id.ID{1}, now)
	require.Equal(t, id.ID{7}, m.LinkOf, "a mail with the link")
	require.Equal(t, "Please pay €180.50 for your rental deposit", m.Subject)
	require.Equal(t, `Hello,

Gîtes d’Ada claimed €180.50 of your rental deposit. Your bank refused the charge of your card, or wants to hear from you first.

Nothing was charged. Please pay with this card or with another.

  Amount: €180.50`+rentalEN+`
See and pay:
`+linkURL+"\n\n"+objectEN+whyEN+"\nThe link is for you alone: please do not pass this mail on.\n", plain(m.Body))
	require.Contains(t, m.HTML, `href="`+linkURL+`"`)
	require.Contains(t, plain(tenantMoney("fr", paymentports.TenantAwaited).Mail(id.ID{1}, now).Body),
		"Consulter et payer :\n"+linkURL)
}

func TestTenantMoney_PaidAndRefunded_NameTheAmount(t *testing.T) {
	require.Contains(t, plain(tenantMoney("en", paymentports.TenantPaid).Mail(id.ID{1}, now).Body),
		"€180.50 was charged to your card for the claim of Gîtes d’Ada. Nothing more is charged for it.")
	require.Contains(t, plain(tenantMoney("fr", paymentports.TenantPaid).Mail(id.ID{1}, now).Body),
		"180,50 € ont été débités de votre carte pour la réclamation de Gîtes d’Ada.")
	back := tenantMoney("en", paymentports.TenantRefunded)
	require.Contains(t, plain(back.Mail(id.ID{1}, now).Body),
		"We gave €180.50 of the amount that Gîtes d’Ada had claimed back to your card.")
	back.Fee = true
	require.Contains(t, plain(back.Mail(id.ID{1}, now).Body),
		"We gave the fee of €180.50 for the rental from Gîtes d’Ada back to your card.")
	back.Locale = "fr"
	require.Contains(t, plain(back.Mail(id.ID{1}, now).Body), "La caution ne pouvait plus être garantie")
}

func TestTenantMoney_ClaimEnded_TellsWhyAndThatNothingIsDue(t *testing.T) {
	m := tenantMoney("en", paymentports.TenantDebtEnded).Mail(id.ID{1}, now)
	require.Equal(t, id.ID{}, m.LinkOf, "a mail without the link")
	require.Equal(t, "You no longer have to pay €180.50 for your rental deposit", m.Subject)
	require.Equal(t, `Hello,

Gîtes d’Ada dropped the claim of €180.50 of your rental deposit.

Nothing is due here any more: your card is not charged, and a link to pay that you got no longer takes a payment.

  Amount: €180.50`+rentalEN+whyEN+"\n", plain(m.Body))
	settled := tenantMoney("fr", paymentports.TenantDebtEnded)
	settled.Settled = true
	m = settled.Mail(id.ID{1}, now)
	require.Equal(t, "Vous n’avez plus à payer 180,50 € pour votre caution", plain(m.Subject))
	require.Equal(t, `Bonjour,

Gîtes d’Ada nous a indiqué que vous avez réglé autrement les 180,50 € réclamés.

Vous ne devez plus rien ici : votre carte n’est pas débitée, et un lien de paiement reçu auparavant n’accepte plus de paiement.

  Montant : 180,50 €`+rentalFR+`
--
Cautions locatives
Vous recevez cet e-mail car vous avez garanti une caution de location pour Gîtes d’Ada.
`, plain(m.Body))
	settled.Locale, settled.Settled = "fr", false
	require.Contains(t, plain(settled.Mail(id.ID{1}, now).Body),
		"Gîtes d’Ada a renoncé aux 180,50 € réclamés de votre caution de location.")
	settled.Locale, settled.Settled = "en", true
	require.Contains(t, plain(settled.Mail(id.ID{1}, now).Body),
		"Gîtes d’Ada told us that you have paid the claimed €180.50 in another way.")
}

// The company's name and the words of the claim are those of an operator or a partner.
func TestTenantMoney_TextOfOthers_IsOneLineWithoutMarkup(t *testing.T) {
	for _, kind := range paymentports.TenantNoticeKinds {
		for _, hostile := range hostileNames {
			m := tenantMoney("", kind)
			m.Company, m.Words = hostile, hostile
			requireHarmless(t, m.Mail(id.ID{1}, now), hostile)
		}
	}
}

func TestTenantMoney_EveryReason_HasWords(t *testing.T) {
	for _, reason := range deposit.CaptureReasons {
		m := tenantMoney("en", paymentports.TenantCaptured)
		m.Reason = reason
		require.Contains(t, plain(m.Mail(id.ID{1}, now).Body), "  Reason: ", reason)
	}
}

func TestMoneyOf_TellsTheOperatorsContactAndDaysOfItsZone(t *testing.T) {
	t.Parallel()
	d := *link("").Deposit
	d.Client = &deposit.Client{Email: "jeanne@example.com"}
	of := connect.Account{CompanyName: "Gîtes d’Ada", Contact: "+33 4 50 00 00 00", Timezone: "Pacific/Kiritimati"}
	m := mails.MoneyOf(&d, "en", paymentports.TenantCaptured, of, "")
	require.Contains(t, m.Mail(id.ID{}, d.CreatedAt).Body, "tell Gîtes d’Ada (+33 4 50 00 00 00) why")
	require.Equal(t, d.In(of.Zone()), m.Deposit)
}
