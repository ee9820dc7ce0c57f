package dashboard

import "partnerdeposits/adapters/http/ui"

var (
	textClaimLink     = ui.T("Link to pay the claim", "Lien pour payer la réclamation")
	textClaimLinkHint = ui.T("Whoever has it can pay the claim.", "Toute personne qui l’a peut payer la réclamation.")
	textClaimMailed   = ui.T("We mailed it to the tenant on %s. It can be sent again from %s on.",
		"Nous l’avons envoyé au locataire le %s. Un nouvel envoi est possible à partir du %s.")
	textRemind   = ui.T("Mail the tenant the link again", "Renvoyer le lien au locataire par e-mail")
	textSettled  = ui.T("The tenant paid you otherwise", "Le locataire vous a payé autrement")
	textWithdraw = ui.T("Drop the claim", "Renoncer à la réclamation")
)

var (
	textConfirmRemind   = ui.T("Mail the tenant the link again?", "Renvoyer le lien au locataire ?")
	textConfirmSettled  = ui.T("Has the tenant paid you %s otherwise?", "Le locataire vous a-t-il payé %s autrement ?")
	textConfirmWithdraw = ui.T("Drop the claim of %s?", "Renoncer à la réclamation de %s ?")
	textButtonRemind    = ui.T("Send now", "Envoyer maintenant")
	textButtonSettled   = ui.T("Yes, end the claim", "Oui, clore la réclamation")
	textButtonWithdraw  = ui.T("Drop the claim now", "Renoncer maintenant")

	textSaysRemind  = ui.T("We mail %s the link to pay %s.", "Nous envoyons à %s le lien pour payer %s.")
	textSaysSettled = ui.T("The claim of %s ends as paid to you directly. We charge no card, and the link takes no payment.",
		"La réclamation de %s est close comme réglée directement auprès de vous. Nous ne débitons aucune carte et le lien n’accepte plus de paiement.")
	textSaysWithdraw = ui.T("You give up the claim of %s. We charge no card, and the link takes no payment.",
		"Vous renoncez à la réclamation de %s. Nous ne débitons aucune carte et le lien n’accepte plus de paiement.")
	textSaysQuicker = ui.T("If the tenant is paying at this moment, the payment counts, and the claim is paid.",
		"Si le locataire est en train de payer, son paiement compte et la réclamation est payée.")
	textSaysTold = ui.T("We tell the tenant by e-mail that nothing is due any more.",
		"Nous informons le locataire par e-mail qu’il ne doit plus rien.")
)

// Texts about the state of a claim, performed and refused acts. The argument of textClaimRefused is the state.
var (
	textClaimEnding = ui.T("The claim is being ended: we wait for the payment provider. The tenant cannot pay any more.",
		"La réclamation est en cours de clôture : nous attendons le prestataire de paiement. Le locataire ne peut plus payer.")
	textClaimSettled = ui.T("You ended the claim: the tenant paid you otherwise.",
		"Vous avez clos la réclamation : le locataire vous a payé autrement.")
	textClaimWithdrawn = ui.T("You dropped the claim.", "Vous avez renoncé à la réclamation.")

	textSettledStep = ui.T("Claim ended: the tenant paid otherwise",
		"Réclamation close : le locataire a payé autrement")
	textWithdrawnStep = ui.T("Claim dropped", "Réclamation abandonnée")

	textHappenedReminded = ui.T("Link to pay mailed again", "Lien de paiement renvoyé par e-mail")

	textDoneClaimEnded = ui.T("The claim has ended. Nothing more is charged.",
		"La réclamation est close. Plus rien ne sera débité.")
	textDoneClaimEnding = ui.T(
		"The payment provider has not answered yet, so the claim has not ended. We go on by ourselves: the claim ends as soon as the provider answers, unless the tenant has already paid.",
		"Le prestataire de paiement n’a pas encore répondu : la réclamation n’est pas close. Nous continuons sans vous : elle le sera dès qu’il répondra, sauf si le locataire a déjà payé.")

	textNoClaim = ui.T("Nothing was done: nothing is claimed of this deposit.",
		"Rien n’a été fait : rien n’est réclamé sur cette caution.")
	textClaimRefused = ui.T("Nothing was done. The state of the claim now: %s",
		"Rien n’a été fait. État actuel de la réclamation : %s")
	textReminded = ui.T("No e-mail was sent: the last one went out on %s. It can be sent again from %s on.",
		"Aucun e-mail n’a été envoyé : le dernier est parti le %s. Un nouvel envoi est possible à partir du %s.")
	textNobodyToRemind = ui.T("No e-mail was sent: the tenant’s record was erased. You can still copy the link.",
		"Aucun e-mail n’a été envoyé : les données du locataire ont été effacées. Vous pouvez encore copier le lien.")
)
