package mails

import (
	"cmp"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// ChargeOrRefundNotice is the mail to a tenant about a charge or refund. It contains the operator's words, since
// the tenant must learn the reason.
type ChargeOrRefundNotice struct {
	To        string
	Locale    string // The tenant's language; "" when unknown.
	Kind      paymentports.TenantNoticeKind
	Deposit   *deposit.Deposit
	Company   string
	Contact   string // The operator's contact for tenants; "" for none.
	Amount    money.Cents
	Reason    string    // The reason of the capture: one of deposit.CaptureReasons, or "".
	Words     string    // The description of the capture by its author; "" for none.
	ChargedAt time.Time // The time of the first charge of the card; zero for a charge at once.
	Fee       bool      // Fee reports whether the refund is of the fee; else it is of a captured amount.
	// Settled reports whether the debt ended because the tenant paid by other means.
	Settled      bool
	SupportEmail string // The e-mail address of support; "" for none.
	URL          string // The secret URL of the page to pay.
}

// NewChargeOrRefundNotice returns a mail about a captured amount; the caller sets the fields of its kind. agreed is
// the language of the tenant's agreement.
func NewChargeOrRefundNotice(d *deposit.Deposit, agreed string, kind paymentports.TenantNoticeKind, of connect.Account,
	supportEmail string) ChargeOrRefundNotice {
	return ChargeOrRefundNotice{To: d.Client.Email, Locale: cmp.Or(d.Locale, agreed), Kind: kind, Deposit: d.InTimeZone(of.Zone()),
		Company: of.CompanyName, Contact: of.Contact, Amount: d.CapturedAmount, SupportEmail: supportEmail}
}

// Mail returns the mail about an amount: French for fr, English for every other locale, both for none.
func (m ChargeOrRefundNotice) Mail(mailID id.ID, now time.Time) ports.Mail {
	mail := write(mailID, m.To, m.Locale, now, func(l *language) letter {
		switch m.Kind {
		case paymentports.TenantNoticeCardRefused:
			return m.awaited(l)
		case paymentports.TenantNoticePaid:
			return m.paid(l)
		case paymentports.TenantNoticeRefunded:
			return m.refunded(l)
		case paymentports.TenantNoticeDebtEnded:
			return m.ended(l)
		case paymentports.TenantNoticeCaptured:
		}
		return m.captured(l, now)
	})
	if m.URL != "" {
		mail.LinkOf = m.Deposit.ID
	}
	return mail
}

func (m ChargeOrRefundNotice) captured(l *language, now time.Time) letter {
	when := l.say("at once", "immédiatement")
	if m.ChargedAt.After(now) {
		when = l.say("on %s", "le %s", l.date(m.ChargedAt.In(m.Deposit.ContractStartAt.Location())))
	}
	return letter{
		subject: l.say("%s claims %s of your rental deposit", "%s réclame %s de votre caution", m.Company, l.euros(m.Amount)),
		paragraphs: []string{
			l.say("%s claims %s of your rental deposit. The card that you paid the fee with is charged %s.",
				"%s réclame %s de votre caution de location. La carte avec laquelle vous avez payé les frais est débitée %s.",
				m.Company, l.euros(m.Amount), when),
			l.say("If the card is refused, we try again within some days, or mail you a link to pay with another card.",
				"Si la carte est refusée, nous réessayons dans les jours qui suivent ou vous envoyons un lien pour payer avec une autre carte."),
		},
		facts: append([]fact{
			{l.say("Amount", "Montant"), l.euros(m.Amount)},
			{l.say("Reason", "Motif"), captureReason(l, m.Reason)},
			{l.say("In the words of %s", "Précisions de %s", m.Company), m.Words},
		}, m.rental(l)...),
		after: []string{m.objection(l)},
		why:   m.why(l),
	}
}

func (m ChargeOrRefundNotice) awaited(l *language) letter {
	return letter{
		subject: l.say("Please pay %s for your rental deposit", "Veuillez payer %s pour votre caution", l.euros(m.Amount)),
		paragraphs: []string{
			l.say(
				"%s claimed %s of your rental deposit. Your bank refused the charge of your card, or wants to hear from you first.",
				"%s a réclamé %s de votre caution de location. Votre banque a refusé le débit de votre carte ou souhaite d’abord votre accord.",
				m.Company, l.euros(m.Amount)),
			l.say("Nothing was charged. Please pay with this card or with another.",
				"Rien n’a été débité. Payez avec cette carte ou avec une autre."),
		},
		facts:  append([]fact{{l.say("Amount", "Montant"), l.euros(m.Amount)}}, m.rental(l)...),
		button: button{l.say("See and pay", "Consulter et payer"), m.URL},
		after:  []string{m.objection(l)},
		why:    m.why(l),
		secret: true,
	}
}

func (m ChargeOrRefundNotice) paid(l *language) letter {
	return letter{
		subject: l.say("You paid %s of your rental deposit", "Vous avez payé %s de votre caution", l.euros(m.Amount)),
		paragraphs: []string{
			l.say("%s was charged to your card for the claim of %s. Nothing more is charged for it.",
				"%s ont été débités de votre carte pour la réclamation de %s. Rien d’autre ne sera débité à ce titre.",
				l.euros(m.Amount), m.Company)},
		facts: append([]fact{{l.say("Amount", "Montant"), l.euros(m.Amount)}}, m.rental(l)...),
		after: []string{m.objection(l)},
		why:   m.why(l),
	}
}

func (m ChargeOrRefundNotice) ended(l *language) letter {
	what := l.say("%s dropped the claim of %s of your rental deposit.",
		"%s a renoncé aux %s réclamés de votre caution de location.", m.Company, l.euros(m.Amount))
	if m.Settled {
		what = l.say("%s told us that you have paid the claimed %s in another way.",
			"%s nous a indiqué que vous avez réglé autrement les %s réclamés.", m.Company, l.euros(m.Amount))
	}
	return letter{
		subject: l.say("You no longer have to pay %s for your rental deposit",
			"Vous n’avez plus à payer %s pour votre caution", l.euros(m.Amount)),
		paragraphs: []string{what,
			l.say("Nothing is due here any more: your card is not charged, and a link to pay that you got no longer takes a payment.",
				"Vous ne devez plus rien ici : votre carte n’est pas débitée, et un lien de paiement reçu auparavant n’accepte plus de paiement.")},
		facts: append([]fact{{l.say("Amount", "Montant"), l.euros(m.Amount)}}, m.rental(l)...),
		why:   m.why(l),
	}
}

func (m ChargeOrRefundNotice) refunded(l *language) letter {
	what := l.say("We gave %s of the amount that %s had claimed back to your card.",
		"Nous avons remboursé sur votre carte %s du montant réclamé par %s.", l.euros(m.Amount), m.Company)
	if m.Fee {
		what = l.say(
			"The deposit could not be secured any more when your payment arrived. We gave the fee of %s for the rental from %s back to your card.",
			"La caution ne pouvait plus être garantie lorsque votre paiement est arrivé. Nous avons remboursé sur votre carte les frais de %s pour la location de %s.",
			l.euros(m.Amount), m.Company)
	}
	return letter{
		subject: l.say("We refunded %s", "Nous avons remboursé %s", l.euros(m.Amount)),
		paragraphs: []string{what,
			l.say("Your bank shows it within some days.", "Votre banque l’affichera sous quelques jours.")},
		facts: append([]fact{{l.say("Refund", "Remboursement"), l.euros(m.Amount)}}, m.rental(l)...),
		why:   m.why(l),
	}
}

// rental returns the period and contract of the rental.
func (m ChargeOrRefundNotice) rental(l *language) []fact {
	d := m.Deposit
	return []fact{
		{l.say("Rental period", "Période de location"),
			l.say("%s to %s", "du %s au %s", l.date(d.ContractStartAt), l.date(d.ContractEndAt))},
		{l.say("Booking", "Réservation"), harmless(d.RentalContract)},
		{l.say("Reference", "Référence"), d.Reference},
	}
}

// objection returns the sentence about how to object to the claim.
func (m ChargeOrRefundNotice) objection(l *language) string {
	operator := connect.Account{CompanyName: m.Company, Contact: m.Contact}.NameWithContact()
	if m.SupportEmail == "" {
		return l.say(
			"If you do not agree, tell %s why, and name the reference. You can also object to the charge at your bank.",
			"Si vous n’êtes pas d’accord, dites pourquoi à %s en indiquant la référence. Vous pouvez aussi contester le débit auprès de votre banque.",
			operator)
	}
	return l.say(
		"If you do not agree, tell %s why, or write to %s and name the reference. You can also object to the charge at your bank.",
		"Si vous n’êtes pas d’accord, dites pourquoi à %s ou écrivez à %s en indiquant la référence. Vous pouvez aussi contester le débit auprès de votre banque.",
		operator, m.SupportEmail)
}

func (m ChargeOrRefundNotice) why(l *language) string {
	return l.say("You get this mail because you secured a rental deposit for %s.",
		"Vous recevez cet e-mail car vous avez garanti une caution de location pour %s.", m.Company)
}

// captureReason returns a reason in words; "" for none.
func captureReason(l *language, reason string) string {
	switch reason {
	case "damage":
		return l.say("Damage", "Dommage")
	case "cleaning":
		return l.say("Cleaning", "Ménage")
	case "missing_items":
		return l.say("Missing items", "Objets manquants")
	case "unpaid_charges":
		return l.say("Unpaid charges", "Charges impayées")
	case "other":
		return l.say("Other", "Autre")
	}
	return ""
}
