package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
)

var (
	textDispute     = ui.T("Disputed by the tenant", "Contesté par le locataire")
	textEvidenceDue = ui.T("Evidence is due by %s: add files below.",
		"Justificatifs attendus avant le %s : ajoutez des fichiers ci-dessous.")
	textAgreed      = ui.T("The tenant agreed", "Accord du locataire")
	textAmount      = ui.T("Amount", "Montant")
	textClaimed     = ui.T("Claimed", "Réclamé")
	textPaid        = ui.T("Paid", "Payé")
	textCover       = ui.T("Cover", "Couverture")
	textCoverUntil  = ui.T("until %s", "jusqu’au %s")
	textCoverNotYet = ui.T("Not yet. If the tenant pays today: until %s",
		"Pas encore. Si le locataire paie aujourd’hui : jusqu’au %s")
	textCoverEnded = ui.T("ended on %s", "terminée le %s")
	textReaches    = ui.T("The cover reaches the end of the stay.", "La couverture va jusqu’à la fin du séjour.")
	textFallsShort = ui.T("The cover ends before the stay does: its last day is %s, and the stay ends on %s.",
		"La couverture finit avant le séjour : son dernier jour est le %s, et le séjour se termine le %s.")
	textCheckoutUntil = ui.T("The tenant can pay until", "Le locataire peut payer jusqu’au")
	textNoTenant      = ui.T("No tenant yet", "Pas encore de locataire")
	textErased        = ui.T("Tenant erased", "Locataire effacé")
	textHistory       = ui.T("History", "Historique")
	textActs          = ui.T("What you can do", "Ce que vous pouvez faire")
	textNoActs        = ui.T("This deposit is over. Nothing more can be done with it.",
		"Cette caution est terminée. Plus rien ne peut être fait.")
	textAllDeposits = ui.T("All deposits", "Toutes les cautions")
	textCopyLink    = ui.T("Link for the tenant", "Lien pour le locataire")
	textCopyHint    = ui.T("Whoever has it can pay for this deposit.",
		"Toute personne qui l’a peut payer pour cette caution.")
	textSend         = ui.T("Send the link", "Envoyer le lien")
	textCapture      = ui.T("Claim for damage", "Réclamer après des dégâts")
	textRelease      = ui.T("Release the deposit", "Libérer la caution")
	textCancel       = ui.T("Cancel the deposit", "Annuler la caution")
	textReason       = ui.T("Reason", "Motif")
	textReasonField  = ui.T("Reason (optional)", "Motif (facultatif)")
	textNoReason     = ui.T("No reason given", "Sans motif")
	textDescription  = ui.T("What happened (optional)", "Ce qui s’est passé (facultatif)")
	textDescribeHint = ui.T("The tenant reads it in the mail about the claim. Kept with the deposit as evidence.",
		"Le locataire le lit dans l’e-mail sur la réclamation. Conservé avec la caution comme preuve.")
	textComment   = ui.T("Comment (optional)", "Commentaire (facultatif)")
	textContinue  = ui.T("Continue", "Continuer")
	textTheTenant = ui.T("the tenant", "le locataire")
	textBack      = ui.T("Back, change nothing", "Retour, ne rien changer")
)

// Texts below the title of a deposit's page, and of its drawing of stay and cover.
var (
	textSecuredUntil = ui.T("secured until %s", "garantie jusqu’au %s")
	textNotSecured   = ui.T("not secured yet", "pas encore garantie")
	textSumClaimed   = ui.T("%s claimed", "%s réclamés")
	textReferenceIs  = ui.T("Reference", "Référence")
	textStay         = ui.T("Stay", "Séjour")
	textCoverPlanned = ui.T("Cover, if the tenant pays today", "Couverture si le locataire paie aujourd’hui")
	textNow          = ui.T("Today", "Aujourd’hui")
	textTheWords     = ui.T("The words of the agreement", "Le texte de l’accord")
	textVerifyToAct  = ui.T("To claim an amount or to mail a tenant, verify your e-mail address first.",
		"Pour réclamer un montant ou écrire à un locataire, vérifiez d’abord votre adresse e-mail.")
	textToSettings = ui.T("To the settings", "Vers les réglages")
)

var (
	textClaimTitle = ui.T("Claim for damage", "Réclamer après des dégâts")
	textClaimLead  = ui.T("Nothing is charged yet: the next page shows the mail that the tenant gets, and asks once more.",
		"Rien n’est encore débité : la page suivante montre l’e-mail que le locataire reçoit et demande confirmation.")
	textClaimLimits = ui.T("From %s to %s.", "De %s à %s.")
	textWhole       = ui.T("The whole amount, %s", "Le montant entier, %s")
	textNoAmount    = ui.T("Enter an amount, or tick the whole amount.",
		"Saisissez un montant ou cochez le montant entier.")
	textTwoAmounts = ui.T("Enter an amount or tick the whole amount, not both.",
		"Saisissez un montant ou cochez le montant entier, pas les deux.")
	textToDeposit   = ui.T("Back to the deposit", "Retour à la caution")
	textYourWords   = ui.T("Your words", "Votre texte")
	textMailPreview = ui.T("The mail that the tenant gets", "L’e-mail que le locataire reçoit")
	textMailTo      = ui.T("To %s", "À %s")
	textNoMail      = ui.T("Nobody is mailed: we have no address of the tenant.",
		"Aucun e-mail n’est envoyé : nous n’avons pas d’adresse du locataire.")
)

var (
	textConfirmCapture = ui.T("Claim %s?", "Réclamer %s ?")
	textConfirmRelease = ui.T("Release this deposit of %s?", "Libérer cette caution de %s ?")
	textConfirmCancel  = ui.T("Cancel this deposit of %s?", "Annuler cette caution de %s ?")
	textConfirmSend    = ui.T("Send the link to %s?", "Envoyer le lien à %s ?")
	textButtonCapture  = ui.T("Claim %s now", "Réclamer %s maintenant")
	textButtonRelease  = ui.T("Release now", "Libérer maintenant")
	textButtonCancel   = ui.T("Cancel now", "Annuler maintenant")
	textButtonSend     = ui.T("Send now", "Envoyer maintenant")

	textSaysCapture = ui.T("You claim %s of the deposit of %s. We charge the card of %s (%s).",
		"Vous réclamez %s sur la caution de %s. Nous débitons la carte bancaire : %s (%s).")
	textSaysRest = ui.T("The other %s cannot be claimed afterwards.",
		"Les %s restants ne pourront plus être réclamés ensuite.")
	textSaysRelease = ui.T("You give up the cover of %s. Nothing is charged to %s.",
		"Vous renoncez à la couverture de %s. Rien n’est débité (%s).")
	textSaysFraud = ui.T(
		"The tenant's bank says that the fee was paid with a stolen card. Charging the same card again will probably be disputed, too. Do you want to claim all the same?",
		"La banque du locataire signale que les frais ont été payés avec une carte volée. Un nouveau débit de cette carte sera sans doute contesté aussi. Voulez-vous réclamer malgré tout ?")
	textSaysCoverEnds = ui.T("The cover ends now, and not on %s.", "La couverture finit maintenant, et non le %s.")
	textSaysCancel    = ui.T("The link stops working: %s can no longer secure %s for %s.",
		"Le lien ne fonctionne plus : %s ne peut plus garantir %s pour la période %s.")
	textSaysFinal = ui.T("This cannot be undone.", "C’est irréversible.")
	textSaysSend  = ui.T("We mail %s the link to secure %s for %s.",
		"Nous envoyons à %s le lien pour garantir %s pour la période %s.")
	textSaysSendUntil = ui.T("The link works until %s.", "Le lien fonctionne jusqu’au %s.")
)

// Messages about performed acts, and entries of a deposit's history.
var (
	textDoneCapture = ui.T("You claimed %s. The tenant’s card is being charged.",
		"Vous avez réclamé %s. La carte du locataire est en cours de débit.")
	textDoneRelease  = ui.T("The deposit is released.", "La caution est libérée.")
	textDoneCancel   = ui.T("The deposit is cancelled.", "La caution est annulée.")
	textDoneSendLink = ui.T("The link is on its way.", "Le lien est en route.")
	textDoneCreated  = ui.T("The deposit is made. Give the tenant the link below.",
		"La caution est créée. Transmettez au locataire le lien ci-dessous.")
	textDoneCreatedSent = ui.T("The deposit is made, and its link is on its way to the tenant.",
		"La caution est créée, et son lien est en route vers le locataire.")

	textHappenedCreated  = ui.T("Deposit made", "Caution créée")
	textHappenedLinkSent = ui.T("Link sent by e-mail", "Lien envoyé par e-mail")
)

var happened = map[deposit.Trigger]ui.LocalizedText{
	deposit.TriggerSecured:      ui.T("Secured: the cover began", "Garantie : la couverture commence"),
	deposit.TriggerCheckoutIdle: ui.T("Checkout began and was not finished", "Paiement commencé et non terminé"),
	deposit.TriggerFeeFailed:    ui.T("Payment refused", "Paiement refusé"),
	deposit.TriggerTenantDeclined: ui.T("Cancelled: the tenant was not accepted",
		"Annulée : le locataire n’a pas été accepté"),
	deposit.TriggerTenantAbandoned:     ui.T("Cancelled: the tenant gave up", "Annulée : le locataire a renoncé"),
	deposit.TriggerCancelledByOperator: ui.T("Cancelled", "Annulée"),
	deposit.TriggerCancelledByPartner:  ui.T("Cancelled", "Annulée"),
	deposit.TriggerCheckoutExpired: ui.T("Cancelled: the time to pay is over",
		"Annulée : le délai de paiement est passé"),
	deposit.TriggerCoverElapsed:     ui.T("The cover ended", "Fin de la couverture"),
	deposit.TriggerReleased:         ui.T("Released", "Libérée"),
	deposit.TriggerCaptureRequested: ui.T("Claimed", "Réclamée"),
}

// disputeStates maps the payment provider's states of a dispute (paymentports.Dispute) to texts.
var disputeStates = map[string]ui.LocalizedText{
	"needs_response": ui.T("The bank waits for our answer.", "La banque attend notre réponse."),
	"warning_needs_response": ui.T("The bank asks, and no money has moved.",
		"La banque se renseigne ; aucun argent n’a été repris."),
	"under_review": ui.T("The bank decides.", "La banque examine."),
	"warning_under_review": ui.T("The bank decides; no money has moved.",
		"La banque examine ; aucun argent n’a été repris."),
	"warning_closed": ui.T("Closed: no money has moved.", "Close : aucun argent n’a été repris."),
	"won":            ui.T("Won: the amount stays paid.", "Gagnée : le montant reste payé."),
	"lost": ui.T("Lost: the amount went back to the tenant.",
		"Perdue : le montant a été rendu au locataire."),
}
