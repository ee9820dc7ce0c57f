package mails

import (
	"strings"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// DisputeNotice is the mail to an operator about a tenant's dispute at the bank.
type DisputeNotice struct {
	Operator     connect.Operator
	Deposit      paymentports.DisputedDeposit
	Dispute      paymentports.Dispute
	New          bool
	DashboardURL string // The setting DASHBOARD_BASE_URL.
}

func (m DisputeNotice) Mail(mailID id.ID, now time.Time) ports.Mail {
	d := m.Deposit
	return write(mailID, m.Operator.Email, m.Operator.Locale, now, func(l *language) letter {
		subject := l.say("News on the dispute about deposit %s", "Du nouveau sur la contestation de la caution %s",
			d.Reference)
		if m.New {
			subject = l.say("A payment of deposit %s is disputed", "Un paiement de la caution %s est contesté", d.Reference)
		}
		facts := []fact{
			{l.say("Amount", "Montant"), l.euros(m.Dispute.Amount)},
			{l.say("State", "État"), disputeState(l, m.Dispute.Status)},
			{l.say("Booking", "Réservation"), harmless(d.RentalContract)},
			{l.say("Reference", "Référence"), d.Reference},
		}
		if !m.Dispute.EvidenceDueBy.IsZero() && strings.HasSuffix(m.Dispute.Status, "needs_response") {
			facts = append(facts,
				fact{l.say("Evidence is due by", "Justificatifs attendus avant le"), l.minute(m.Dispute.EvidenceDueBy)})
		}
		return letter{
			subject: subject,
			paragraphs: []string{l.say("The tenant objects to a charge at the bank that issued the card.",
				"Le locataire conteste un débit auprès de la banque qui a émis la carte.")},
			facts:  facts,
			button: button{l.say("Open the deposit", "Ouvrir la caution"), depositPage(m.DashboardURL, d.ID)},
			after: []string{l.say(
				"Our support answers the bank. Photos, documents and the description of the damage help: add them to the deposit.",
				"Notre assistance répond à la banque. Photos, documents et description du dommage sont utiles : ajoutez-les à la caution.")},
			why: l.say("You get this mail because the deposit was made for your account.",
				"Vous recevez cet e-mail car la caution a été créée pour votre compte."),
		}
	})
}

// disputeState returns a dispute's status in words; an unknown status counts as under review.
func disputeState(l *language, status string) string {
	switch status {
	case "needs_response", "warning_needs_response":
		return l.say("the bank waits for our answer", "la banque attend notre réponse")
	case "won", "warning_closed":
		return l.say("decided for you", "tranchée en votre faveur")
	case "lost":
		return l.say("lost: the money goes back to the tenant", "perdue : l’argent est rendu au locataire")
	}
	return l.say("under review by the bank", "en cours d’examen par la banque")
}
