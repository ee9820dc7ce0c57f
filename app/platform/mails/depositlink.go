package mails

import (
	"strings"
	"time"

	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// DepositLink is the mail with the checkout link (api.md §2, "Mails with the link").
type DepositLink struct {
	To      string
	Locale  string // The language of the tenant; "" when unknown.
	Deposit *deposit.Deposit
	Company string
	// ByCompany reports whether the operator, not the partner, asked for the mail.
	ByCompany bool
	Sender    id.ID // The partner or account that asked for the mail.
	// The parameter of the link that identifies the mail (ports.Mail).
	Mark    id.ID
	URL     string // The secret URL of the checkout.
	Imprint agreement.Imprint
}

// Mail returns the mail with the checkout link: French for fr, English for every other locale, both for none.
func (m DepositLink) Mail(mailID id.ID, now time.Time) ports.Mail {
	d, mark := m.Deposit, ""
	if !m.Mark.IsZero() {
		mark = id.LinkMailMark.Of(m.Mark)
	}
	mail := write(mailID, m.To, m.Locale, now, func(l *language) letter {
		return letter{
			subject: l.say("Your rental deposit", "Votre caution de location"),
			paragraphs: []string{l.say("%s asks you for a deposit of %s for your rental.",
				"%s vous demande une caution de %s pour votre location.", m.Company, l.euros(d.Amount))},
			facts: []fact{
				{l.say("Rental period", "Période de location"),
					l.say("%s to %s", "du %s au %s", l.date(d.ContractStartAt), l.date(d.ContractEndAt))},
				{l.say("Booking", "Réservation"), harmless(d.RentalContract)},
				{l.say("Reference", "Référence"), d.Reference},
			},
			button: button{l.say("Secure the deposit", "Garantir la caution"), site.MailedCheckoutURL(m.URL, mark)},
			after: append([]string{l.say(
				"The deposit itself is not blocked on your card. The page shows the fee before you pay. The link works until %s.",
				"La caution elle-même n’est pas bloquée sur votre carte. La page indique les frais avant le paiement. Le lien fonctionne jusqu’au %s.",
				l.date(d.CheckoutExpiresAt))}, l.imprint(m.Imprint)...),
			why: m.why(l),
		}
	})
	mail.LinkOf, mail.Sender, mail.Mark = d.ID, m.Sender, m.Mark
	return mail
}

// why returns the sentence about who asked for the mail.
func (m DepositLink) why(l *language) string {
	asked := l.say("%s asked us to send you this mail for %s.", "%s nous a demandé de vous envoyer cet e-mail pour %s.",
		m.Deposit.PartnerName, m.Company)
	if m.ByCompany {
		asked = l.say("%s asked us to send you this mail.", "%s nous a demandé de vous envoyer cet e-mail.", m.Company)
	}
	return asked + " " +
		l.say("If you do not know this rental, ignore the mail.", "Si cette location ne vous dit rien, ignorez-le.")
}

// The longest rental contract that a mail shows.
const maxBooking = 40

// harmless returns a rental contract that cannot pass for a link, telephone number or sentence, else "": a partner
// chooses text and address.
func harmless(contract string) string {
	if len(contract) > maxBooking {
		return ""
	}
	for _, r := range contract {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_/#", r) {
			return ""
		}
	}
	return contract
}
