package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// Mails about a link also go to unverified addresses, so they name the partner and contain no text that a caller
// may choose.

// PartnerLinked is the mail to an operator about a new link to a partner.
type PartnerLinked struct {
	Operator     connect.Operator
	PartnerName  string
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

func (m PartnerLinked) Mail(mailID id.ID, now time.Time) ports.Mail {
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		return letter{
			subject: l.say("%s is now linked to your account", "%s est maintenant relié à votre compte", m.PartnerName),
			paragraphs: []string{
				l.say("%s was linked to your account on %s.", "%s a été relié à votre compte le %s.", m.PartnerName, l.minute(now)),
				l.say(
					"%s can create deposits for your rentals, send your tenants the link to them, cancel and release the deposits it created, and claim from them.",
					"%s peut créer des cautions pour vos locations, envoyer le lien à vos locataires, annuler ou libérer les cautions qu’il a créées, et y réclamer un montant.",
					m.PartnerName),
			},
			button: button{l.say("See the partner’s rights", "Voir les droits du partenaire"),
				site.PageURL(m.DashboardURL, site.PartnerPath)},
			after: []string{l.say("If this was not you, end the link on that page and change your password.",
				"Si ce n’était pas vous, mettez fin au lien sur cette page et changez votre mot de passe.")},
			why: l.becauseOfAccount(),
		}
	})
}

// PartnerUnlinked is the mail to an operator about a revoked link to a partner.
type PartnerUnlinked struct {
	Operator     connect.Operator
	PartnerName  string
	By           connect.RevokedBy
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

func (m PartnerUnlinked) Mail(mailID id.ID, now time.Time) ports.Mail {
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		return letter{
			subject: l.say("%s is no longer linked to your account", "%s n’est plus relié à votre compte", m.PartnerName),
			paragraphs: []string{
				l.say("The link between your account and %s was ended on %s, %s.",
					"Le lien entre votre compte et %s a pris fin le %s, %s.", m.PartnerName, l.minute(now), m.author(l)),
				l.say("%s can no longer create deposits for you. Deposits that exist already stay as they are.",
					"%s ne peut plus créer de cautions pour vous. Les cautions existantes restent inchangées.", m.PartnerName),
			},
			button: button{l.say("Open your pages", "Ouvrir votre espace"), site.PageURL(m.DashboardURL, site.DashboardPath)},
			after: []string{l.say("To link again, open a new connect link from your partner.",
				"Pour relier de nouveau votre compte, ouvrez un nouveau lien de votre partenaire.")},
			why: l.becauseOfAccount(),
		}
	})
}

func (m PartnerUnlinked) author(l *language) string {
	switch m.By {
	case connect.RevokedByPartner:
		return l.say("by %s", "par %s", m.PartnerName)
	case connect.RevokedByAdmin:
		return l.say("by our support", "par notre assistance")
	case connect.RevokedByOperator:
	}
	return l.say("by you, on your dashboard", "par vous, dans votre espace")
}

// becauseOfAccount returns the sentence about why an operator gets an account's mail.
func (l *language) becauseOfAccount() string {
	return l.say("You get this mail because it concerns the security of your account.",
		"Vous recevez cet e-mail car il concerne la sécurité de votre compte.")
}
