package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// The mails of this file contain text that a caller chose, so they go to verified addresses only. They do not name
// the tenant: a mail stays in an inbox longer than the service keeps a tenant's data.

type DepositSecured struct {
	Operator     connect.Operator
	Deposit      depositports.SecuredDeposit
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

func (m DepositSecured) Mail(mailID id.ID, now time.Time) ports.Mail {
	d := m.Deposit
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		return letter{
			subject: l.say("Deposit %s is secured", "La caution %s est garantie", d.Reference),
			paragraphs: []string{l.say("Your tenant has secured the deposit of %s.",
				"Votre locataire a garanti la caution de %s.", l.euros(d.Amount))},
			facts: []fact{
				{l.say("Rental period", "Période de location"),
					l.say("%s to %s", "du %s au %s", l.date(d.ContractStartAt), l.date(d.ContractEndAt))},
				{l.say("Booking", "Réservation"), harmless(d.RentalContract)},
				{l.say("Reference", "Référence"), d.Reference},
				{l.say("Covered until", "Couverte jusqu’au"), l.minute(d.ExpiresAt)},
			},
			button: button{l.say("Open the deposit", "Ouvrir la caution"), depositPage(m.DashboardURL, d.ID)},
			after: []string{l.say("If there is damage, you can claim up to the whole amount until the cover ends.",
				"En cas de dommage, vous pouvez réclamer jusqu’à la totalité du montant avant la fin de la couverture.")},
			why: l.say("You get this mail because the deposit was made for your account.",
				"Vous recevez cet e-mail car la caution a été créée pour votre compte."),
		}
	})
}

const MaxListedCovers = 20

type CoversEnding struct {
	depositports.EndingCoversMailData
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

func (m CoversEnding) Mail(mailID id.ID, now time.Time) ports.Mail {
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		return letter{
			subject: m.subject(l),
			paragraphs: []string{
				l.say("A cover ends at the time below. Afterwards nothing can be claimed from its deposit.",
					"Une couverture prend fin à l’heure ci-dessous. Ensuite, rien ne peut plus être réclamé sur sa caution."),
			},
			facts:  m.rows(l),
			button: button{l.say("See what ends", "Voir les échéances"), site.PageURL(m.DashboardURL, site.DashboardPath)},
			after:  []string{m.rest(l)},
			why: l.say(
				"You get this mail once a day at most, when a cover of your account is about to end. Your settings turn it off.",
				"Vous recevez cet e-mail une fois par jour au plus, lorsqu’une couverture de votre compte arrive à échéance. Vos réglages permettent de le désactiver."),
		}
	})
}

func (m CoversEnding) subject(l *language) string {
	if m.Count == 1 {
		return l.say("The cover of a deposit ends within 7 days", "La couverture d’une caution prend fin dans les 7 jours")
	}
	return l.say("The cover of %d deposits ends within 7 days", "La couverture de %d cautions prend fin dans les 7 jours",
		m.Count)
}

func (m CoversEnding) rows(l *language) []fact {
	facts := make([]fact, 0, len(m.Covers))
	for _, c := range m.Covers {
		name := c.Reference
		if booking := harmless(c.RentalContract); booking != "" {
			name += " (" + booking + ")"
		}
		facts = append(facts, fact{name, l.euros(c.Amount) + ", " + l.minute(c.ExpiresAt)})
	}
	return facts
}

// rest returns the sentence about unlisted deposits; "" if the mail lists all.
func (m CoversEnding) rest(l *language) string {
	switch n := m.Count - len(m.Covers); n {
	case 0:
		return ""
	case 1:
		return l.say("One more is on your pages.", "Une autre figure dans votre espace.")
	default:
		return l.say("%d more are on your pages.", "%d autres figurent dans votre espace.", n)
	}
}

func depositPage(baseURL string, depositID id.ID) string {
	return site.PageURL(baseURL, site.FillPath(site.DepositPath, id.Deposit.Of(depositID)))
}
