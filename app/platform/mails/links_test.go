package mails_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

func ada(locale string) connect.Operator {
	return connect.Operator{Email: "ada@gites.example", Locale: locale}
}

func TestLinkMade_TellsWhatThePartnerMayDo(t *testing.T) {
	m := mails.LinkMade{Operator: ada("en"), PartnerName: "Acme", DashboardURL: "https://dash.example/"}
	mail := m.Mail(id.ID{1}, now)
	require.Equal(t, []any{id.ID{1}, "ada@gites.example", now, id.ID{}},
		[]any{mail.ID, mail.To, mail.CreatedAt, mail.LinkOf})
	require.Equal(t, "Acme is now linked to your account", mail.Subject)
	require.Equal(t, `Hello,

Acme was linked to your account on 21 November 2026, 10:00 UTC.

Acme can create deposits for your rentals, send your tenants the link to them, cancel and release the deposits it created, and claim from them.

See the partner’s rights:
https://dash.example/dashboard/partner

If this was not you, end the link on that page and change your password.

--
Rental deposits
You get this mail because it concerns the security of your account.
`, plain(mail.Body))

	m.Operator = ada("fr-CA")
	mail = m.Mail(id.ID{1}, now)
	require.Equal(t, "Acme est maintenant relié à votre compte", mail.Subject)
	require.Equal(t, `Bonjour,

Acme a été relié à votre compte le 21 novembre 2026, 10:00 UTC.

Acme peut créer des cautions pour vos locations, envoyer le lien à vos locataires, annuler ou libérer les cautions qu’il a créées, et y réclamer un montant.

Voir les droits du partenaire :
https://dash.example/dashboard/partner

Si ce n’était pas vous, mettez fin au lien sur cette page et changez votre mot de passe.

--
Cautions locatives
Vous recevez cet e-mail car il concerne la sécurité de votre compte.
`, plain(mail.Body))
}

func TestLinkEnded_TellsInBothLanguagesWhoEndedTheLink(t *testing.T) {
	m := mails.LinkEnded{Operator: ada(""), PartnerName: "Acme", By: connect.RevokedByPartner,
		DashboardURL: "https://dash.example/"}
	mail := m.Mail(id.ID{1}, now)
	require.Equal(t, "Acme is no longer linked to your account / Acme n’est plus relié à votre compte", mail.Subject)
	require.Equal(t, `Hello,

The link between your account and Acme was ended on 21 November 2026, 10:00 UTC, by Acme.

Acme can no longer create deposits for you. Deposits that exist already stay as they are.

Open your pages:
https://dash.example/dashboard

To link again, open a new connect link from your partner.

--
Rental deposits
You get this mail because it concerns the security of your account.


* * *

Bonjour,

Le lien entre votre compte et Acme a pris fin le 21 novembre 2026, 10:00 UTC, par Acme.

Acme ne peut plus créer de cautions pour vous. Les cautions existantes restent inchangées.

Ouvrir votre espace :
https://dash.example/dashboard

Pour relier de nouveau votre compte, ouvrez un nouveau lien de votre partenaire.

--
Cautions locatives
Vous recevez cet e-mail car il concerne la sécurité de votre compte.
`, plain(mail.Body))

	for by, words := range map[connect.RevokedBy][2]string{
		connect.RevokedByOperator: {"by you, on your dashboard.", "par vous, dans votre espace."},
		connect.RevokedByAdmin:    {"by our support.", "par notre assistance."},
	} {
		m.By = by
		mail := m.Mail(id.ID{1}, now)
		for _, part := range []string{mail.Body, mail.HTML} {
			require.Contains(t, part, words[0])
			require.Contains(t, part, words[1])
		}
	}
}

// A partner's name is entered by our support, but a mail does not rely on it.
func TestLinks_AHostileName_StaysAName(t *testing.T) {
	for _, hostile := range hostileNames {
		for _, mail := range []ports.Mail{
			mails.LinkMade{Operator: ada("en"), PartnerName: hostile, DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now),
			mails.LinkEnded{Operator: ada("en"), PartnerName: hostile, By: connect.RevokedByPartner,
				DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now),
		} {
			requireHarmless(t, mail, hostile)
			require.Equal(t, 1, countLinks(mail.HTML), "%q", hostile)
		}
	}
}
