package mails_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

func securedDeposit() depositports.SecuredDeposit {
	d := link("").Deposit
	return depositports.SecuredDeposit{
		ID: d.ID, Reference: d.Reference, Amount: d.Amount, RentalContract: d.RentalContract,
		ContractStartAt: d.ContractStartAt, ContractEndAt: d.ContractEndAt,
		ExpiresAt: time.Date(2026, 12, 22, 10, 0, 0, 0, time.UTC),
	}
}

func TestDepositSecured_TellsTheTermsAndTheCover(t *testing.T) {
	d := securedDeposit()
	page := "https://dash.example/dashboard/deposits/" + id.Deposit.Of(d.ID)
	mail := mails.DepositSecured{Operator: ada("en"), Deposit: d, DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now)
	require.Equal(t, "Deposit D-7K3M-9Q2X is secured", mail.Subject)
	require.Equal(t, "ada@gites.example", mail.To)
	require.Equal(t, `Hello,

Your tenant has secured the deposit of €1,250.00.

  Rental period: 1 December 2026 to 8 December 2026
  Booking: BK-2026/17
  Reference: D-7K3M-9Q2X
  Covered until: 22 December 2026, 10:00 UTC

Open the deposit:
`+page+`

If there is damage, you can claim up to the whole amount until the cover ends.

--
Rental deposits
You get this mail because the deposit was made for your account.
`, plain(mail.Body))
	mail = mails.DepositSecured{Operator: ada("fr"), Deposit: d, DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now)
	require.Equal(t, "La caution D-7K3M-9Q2X est garantie", mail.Subject)
	require.Equal(t, `Bonjour,

Votre locataire a garanti la caution de 1 250,00 €.

  Période de location : du 1er décembre 2026 au 8 décembre 2026
  Réservation : BK-2026/17
  Référence : D-7K3M-9Q2X
  Couverte jusqu’au : 22 décembre 2026, 10:00 UTC

Ouvrir la caution :
`+page+`

En cas de dommage, vous pouvez réclamer jusqu’à la totalité du montant avant la fin de la couverture.

--
Cautions locatives
Vous recevez cet e-mail car la caution a été créée pour votre compte.
`, plain(mail.Body))
	for _, hostile := range hostileNames {
		d.RentalContract = hostile
		mail := mails.DepositSecured{Operator: ada("en"), Deposit: d, DashboardURL: "https://dash.example"}.Mail(id.ID{1},
			now)
		requireHarmless(t, mail, hostile)
		require.NotContains(t, mail.Body, "Booking", "%q", hostile)
	}
}

// ending is the mail about n covers, which lists some of them.
func ending(locale string, listed, n int) ports.Mail {
	about := depositports.CoverSubject{Operator: ada(locale), Count: n}
	for i := range listed {
		about.Covers = append(about.Covers, depositports.EndingCover{
			Reference: fmt.Sprintf("D-%04d-0000", i), Amount: 30_000, RentalContract: []string{"BK-1", "a sentence"}[i%2],
			ExpiresAt: now.AddDate(0, 0, 2),
		})
	}
	return mails.CoversEnding{CoverSubject: about, DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now)
}

func TestCoversEnding_ListsAndCounts(t *testing.T) {
	mail := ending("en", 2, 4)
	require.Equal(t, "The cover of 4 deposits ends within 7 days", mail.Subject)
	require.Equal(t, `Hello,

A cover ends at the time below. Afterwards nothing can be claimed from its deposit.

  D-0000-0000 (BK-1): €300.00, 23 November 2026, 10:00 UTC
  D-0001-0000: €300.00, 23 November 2026, 10:00 UTC

See what ends:
https://dash.example/dashboard

2 more are on your pages.

--
Rental deposits
You get this mail once a day at most, when a cover of your account is about to end. Your settings turn it off.
`, plain(mail.Body))
	mail = ending("fr", 1, 1)
	require.Equal(t, "La couverture d’une caution prend fin dans les 7 jours", mail.Subject)
	require.Equal(t, `Bonjour,

Une couverture prend fin à l’heure ci-dessous. Ensuite, rien ne peut plus être réclamé sur sa caution.

  D-0000-0000 (BK-1) : 300,00 €, 23 novembre 2026, 10:00 UTC

Voir les échéances :
https://dash.example/dashboard

--
Cautions locatives
Vous recevez cet e-mail une fois par jour au plus, lorsqu’une couverture de votre compte arrive à échéance. Vos réglages permettent de le désactiver.
`, plain(mail.Body))
	require.Contains(t, plain(ending("en", 20, 21).Body), "One more is on your pages.")
	require.Contains(t, plain(ending("fr", 20, 22).Body), "2 autres figurent")
	require.Equal(t, "The cover of a deposit ends within 7 days", ending("en", 1, 1).Subject)
	require.Equal(t, 20, strings.Count(ending("fr", 20, 22).HTML, `<th scope="row"`))
}
