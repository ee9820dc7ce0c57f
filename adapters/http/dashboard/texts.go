package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
)

func init() {
	ui.RegisterErrorText(deposit.ErrNotFound.Code, ui.T("No such deposit", "Caution introuvable"),
		ui.T("Your account has no deposit at this address. Please check the link.",
			"Votre compte n’a pas de caution à cette adresse. Vérifiez le lien."))
}

var textRestored = ui.T(
	"Your session had ended, and nothing was sent. Your text is back: look at it and send it again.",
	"Votre session avait pris fin et rien n’a été envoyé. Votre texte est de retour : vérifiez-le et renvoyez-le.")

var (
	textBadStatus = ui.T("Choose a status of the list.", "Choisissez un état de la liste.")
	textBadView   = ui.T("Choose a view of the list.", "Choisissez une vue de la liste.")
	textBadSort   = ui.T("Choose an order of the list.", "Choisissez un ordre de la liste.")
	textBadText   = ui.T("Search for a shorter text.", "Recherchez un texte plus court.")
	textBadDate   = ui.T("Enter a date, such as 2026-07-31.", "Saisissez une date, par exemple 2026-07-31.")
	textBadPeriod = ui.T("The last day is before the first day.", "Le dernier jour précède le premier.")
	textBadAmount = ui.T("Enter an amount from %s to %s, with two decimals at most.",
		"Saisissez un montant de %s à %s, avec deux décimales au plus.")
	textBadNewAmount = ui.T("Enter an amount from %s to %s, with two decimals at most.",
		"Saisissez un montant de %s à %s, avec deux décimales au plus.")
	textBadReason = ui.T("Choose a reason of the list.", "Choisissez un motif de la liste.")
	textBadWords  = ui.T("Use plain text of %d characters at most.",
		"Saisissez un texte simple de %d caractères au plus.")
	textBadContract = ui.T("Use one line of %d characters at most.", "Saisissez une ligne de %d caractères au plus.")
	textBadEmail    = ui.T("Enter a valid e-mail address.", "Saisissez une adresse e-mail valide.")
	textFormUsed    = ui.T(
		"This form has made a deposit already, with other values. Check them, and send the form again to make another deposit.",
		"Ce formulaire a déjà créé une caution, avec d’autres valeurs. Vérifiez-les, puis renvoyez le formulaire pour en créer une autre.")
	textCheck = ui.T("Please check these fields:", "Vérifiez ces champs :")
)

var badPerson = map[string]ui.LocalizedText{
	fieldFirstName: ui.T("Enter the first name, in one line of 100 characters at most.",
		"Saisissez le prénom, sur une ligne de 100 caractères au plus."),
	fieldLastName: ui.T("Enter the last name, in one line of 100 characters at most.",
		"Saisissez le nom, sur une ligne de 100 caractères au plus."),
	fieldEmail: textBadEmail,
}

var statuses = map[deposit.Status]ui.LocalizedText{
	deposit.Pending:      ui.T("Awaiting the tenant", "En attente du locataire"),
	deposit.Incomplete:   ui.T("Not finished", "Non terminée"),
	deposit.Active:       ui.T("Secured", "Garantie"),
	deposit.Cancelled:    ui.T("Cancelled", "Annulée"),
	deposit.PaymentIssue: ui.T("Payment refused", "Paiement refusé"),
	deposit.Closed:       ui.T("Ended", "Terminée"),
	deposit.Captured:     ui.T("Claimed", "Réclamée"),
}

var (
	textPaidState    = ui.T("Paid", "Payée")
	textCardRefused  = ui.T("Card refused", "Carte refusée")
	textNotPaid      = ui.T("Not paid", "Non payée")
	textSettledState = ui.T("Paid otherwise", "Payée autrement")
	textDroppedState = ui.T("Claim dropped", "Réclamation abandonnée")
)

var chips = map[deposit.Status]ui.Chip{
	deposit.Pending:      {Icon: "i-wait"},
	deposit.Incomplete:   {Icon: "i-half"},
	deposit.Active:       {Tone: "good", Icon: "i-shield"},
	deposit.Cancelled:    {Icon: "i-cross"},
	deposit.PaymentIssue: {Tone: "bad", Icon: "i-alert"},
	deposit.Closed:       {Icon: "i-end"},
	deposit.Captured:     {Icon: "i-claim"},
}

var authors = map[desk.HistoryEntryAuthor]ui.LocalizedText{
	desk.AuthorOperator: ui.T("You", "Vous"),
	desk.AuthorPartner:  ui.T("The partner", "Le partenaire"),
	desk.AuthorTenant:   ui.T("The tenant", "Le locataire"),
	desk.AuthorClock:    ui.T("Automatic", "Automatique"),
	desk.AuthorService:  ui.T("The service", "Le service"),
}

var reasons = map[string]ui.LocalizedText{
	"damage":         ui.T("Damage", "Dégâts"),
	"cleaning":       ui.T("Cleaning", "Ménage"),
	"missing_items":  ui.T("Missing items", "Objets manquants"),
	"unpaid_charges": ui.T("Unpaid charges", "Charges impayées"),
	"other":          ui.T("Other", "Autre"),
}
