package mails

import (
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// FeePaid is the mail that confirms the paid fee and repeats the agreed terms.
type FeePaid struct {
	To      string
	Locale  string // The language in which the tenant agreed.
	Deposit depositports.SecuredDeposit
	Company string
	Fee     money.Cents
	PaidAt  time.Time
	Words   string // The terms to which the tenant agreed.
	Imprint agreement.Imprint
}

func (m FeePaid) Mail(mailID id.ID, now time.Time) ports.Mail {
	d := m.Deposit
	return write(mailID, m.To, m.Locale, now, func(l *language) letter {
		return letter{
			subject: l.say("You paid a fee of %s, and your deposit is secured",
				"Vous avez payé des frais de %s : votre caution est garantie", l.euros(m.Fee)),
			paragraphs: []string{
				l.say(
					"You paid a fee of %s to secure the deposit of %s for %s. Nothing else was charged, and nothing is blocked on your card.",
					"Vous avez payé des frais de %s pour garantir la caution de %s demandée par %s. Rien d’autre n’a été débité et rien n’est bloqué sur votre carte.",
					l.euros(m.Fee), l.euros(d.Amount), m.Company),
			},
			facts: []fact{
				{l.say("Fee", "Frais"), l.say("%s, paid on %s", "%s, payés le %s", l.euros(m.Fee), l.date(m.PaidAt))},
				{l.say("Deposit", "Caution"), l.euros(d.Amount)},
				{l.say("Rental period", "Période de location"),
					l.say("%s to %s", "du %s au %s", l.date(d.ContractStartAt), l.date(d.ContractEndAt))},
				{l.say("Booking", "Réservation"), harmless(d.RentalContract)},
				{l.say("Reference", "Référence"), d.Reference},
				{l.say("Covered until", "Couvert jusqu’au"), l.minute(d.ExpiresAt)},
			},
			after: append([]string{l.say("You agreed to these words:", "Vous avez accepté ces termes :"), m.Words},
				l.imprint(m.Imprint)...),
			why: l.say("You get this mail because you paid this fee.", "Vous recevez cet e-mail car vous avez payé ces frais."),
		}
	})
}
