package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
)

var (
	textAttempts    = ui.T("Charges of the card", "Débits de la carte")
	textLastAttempt = ui.T("The last one was on %s.", "Le dernier date du %s.")
	textNextAttempt = ui.T("Next charge", "Prochain débit")
	textPaidOn      = ui.T("Paid on", "Payé le")
	textRefund      = ui.T("Refund to the tenant", "Remboursement au locataire")
	textRefusedBy   = ui.T("The card was refused (%s).", "La carte a été refusée (%s).")
)

var collectionStates = map[deposit.CollectionState]ui.LocalizedText{
	deposit.CollectionScheduled: ui.T("The card has not been charged yet.", "La carte n’est pas encore débitée."),
	deposit.CollectionRetrying: ui.T("The card was refused. We charge it again.",
		"La carte a été refusée. Nous la débiterons de nouveau."),
	deposit.CollectionAwaitingTenant: ui.T("The card was refused. The tenant has a link to pay with another card.",
		"La carte a été refusée. Le locataire dispose d’un lien pour payer avec une autre carte."),
	deposit.CollectionPaid: ui.T("The tenant has paid.", "Le locataire a payé."),
	deposit.CollectionFailed: ui.T("The tenant did not pay. You stay covered for the amount.",
		"Le locataire n’a pas payé. Vous restez couvert pour ce montant."),
}

var collectionSteps = map[deposit.CollectionTrigger]ui.LocalizedText{
	deposit.CollectionTriggerCharged:      ui.T("The card was charged", "La carte a été débitée"),
	deposit.CollectionTriggerPaidByTenant: ui.T("The tenant paid", "Le locataire a payé"),
	deposit.CollectionTriggerRefusedForNow: ui.T("The card was refused; another charge follows",
		"Carte refusée ; un autre débit suivra"),
	deposit.CollectionTriggerRefused: ui.T("The card was refused; the tenant is asked to pay",
		"Carte refusée ; le locataire est invité à payer"),
	deposit.CollectionTriggerRetriedByStaff: ui.T("Our staff asked for another charge",
		"Notre équipe a demandé un nouveau débit"),
	deposit.CollectionTriggerCancelled: ui.T("Our staff ended the claim", "Notre équipe a clos la réclamation"),
	deposit.CollectionTriggerExpired:   ui.T("The claim ended without payment", "La réclamation a pris fin sans paiement"),
	deposit.CollectionTriggerTooSmall: ui.T("The amount is too small to be charged to a card",
		"Le montant est trop faible pour débiter une carte"),
	deposit.CollectionTriggerSettledElsewhere: textSettledStep,
	deposit.CollectionTriggerWithdrawn:        textWithdrawnStep,
}

var refundStates = map[deposit.RefundStatus]ui.LocalizedText{
	deposit.RefundPending:   ui.T("On its way.", "En cours."),
	deposit.RefundSucceeded: ui.T("Paid back.", "Remboursé."),
	deposit.RefundFailed: ui.T("The bank refused it. Our staff looks into it.",
		"La banque l’a refusé. Notre équipe s’en occupe."),
}

var failures = map[string]ui.LocalizedText{
	"insufficient_funds": ui.T("The account lacked the money.", "Le compte n’était pas suffisamment approvisionné."),
	"authentication_required": ui.T("The bank wants the tenant to confirm the payment.",
		"La banque demande au locataire de confirmer le paiement."),
	"card_declined":       ui.T("The bank refused the card.", "La banque a refusé la carte."),
	"generic_decline":     ui.T("The bank refused the card.", "La banque a refusé la carte."),
	"do_not_honor":        ui.T("The bank refused the card.", "La banque a refusé la carte."),
	"try_again_later":     ui.T("The bank asked to try again later.", "La banque a demandé de réessayer plus tard."),
	"expired_card":        ui.T("The card has expired.", "La carte est expirée."),
	"lost_card":           ui.T("The card is blocked.", "La carte est bloquée."),
	"stolen_card":         ui.T("The card is blocked.", "La carte est bloquée."),
	"card_not_chargeable": ui.T("The card cannot be charged.", "La carte ne peut pas être débitée."),
	"too_late":            ui.T("It is too late to charge the card.", "Il est trop tard pour débiter la carte."),
	"no_card":             ui.T("There is no card to charge.", "Aucune carte à débiter."),
	"no_card_on_file":     ui.T("There is no card to charge.", "Aucune carte à débiter."),
}
