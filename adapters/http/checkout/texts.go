package checkout

import "partnerdeposits/adapters/http/ui"

var (
	textTitle = ui.T("Secure your rental deposit", "Garantir votre caution")
	// textPrice is the heading of the checkout page, in which the fee is emphasised.
	textPrice     = ui.T("Pay %s now. Nothing is blocked.", "Payez %s maintenant. Rien n’est bloqué.")
	textDeposit   = ui.T("Deposit", "Caution")
	textPeriod    = ui.T("Rental period", "Période de location")
	textContract  = ui.T("Booking", "Réservation")
	textReference = ui.T("Reference", "Référence")

	textCovers      = ui.T("Covers %s for up to %s until %s.", "Couvre %s à hauteur de %s jusqu’au %s.")
	textCoversToday = ui.T("Covers %s for up to %s until %s, if you pay today.",
		"Couvre %s à hauteur de %s jusqu’au %s, si vous payez aujourd’hui.")
	textCoverShort = ui.T("The cover ends before your stay does, which ends on %s.",
		"La couverture prend fin avant votre séjour, qui se termine le %s.")
	textMeans        = ui.T("What this means", "Ce que cela signifie")
	textPaidFee      = ui.T("Fee paid", "Frais payés")
	textPaidFeeOn    = ui.T("%s, on %s", "%s, le %s")
	textCoveredUntil = ui.T("Covered until", "Couvert jusqu’au")
	textReceipt      = ui.T("You get a receipt by e-mail, with the words to which you agreed.",
		"Vous recevez un reçu par e-mail, avec les termes que vous avez acceptés.")
	textWhom         = ui.T("Questions", "Une question ?")
	textWhomOperator = ui.T("Ask %s about your stay and about claims.",
		"Pour votre séjour et les réclamations, adressez-vous à %s.")
	textWhomSupport = ui.T("Ask %s about your stay and about claims. For this payment, write to %s.",
		"Pour votre séjour et les réclamations, adressez-vous à %s. Pour ce paiement, écrivez à %s.")
	textTerms   = ui.T("Terms", "Conditions")
	textPrivacy = ui.T("Privacy", "Données personnelles")
	textSupport = ui.T("Questions: %s", "Questions : %s")

	textHow        = ui.T("How it works", "Comment ça marche")
	textNotBlocked = ui.T("The deposit itself is not blocked on your card.",
		"La caution elle-même n’est pas bloquée sur votre carte.")
	textOnce  = ui.T("You pay a fee of %s, once.", "Vous payez des frais de %s, une seule fois.")
	textClaim = ui.T("If there is damage, %s can claim up to %s. That amount is then charged to the same card.",
		"En cas de dommage, %s peut réclamer jusqu’à %s. Ce montant est alors débité de la même carte.")

	textFirstName = ui.T("First name", "Prénom")
	textLastName  = ui.T("Last name", "Nom")
	textEmail     = ui.T("E-mail", "E-mail")
	textPay       = ui.T("Pay %s", "Payer %s")
	textTryAgain  = ui.T("Try the payment again: %s", "Réessayer le paiement : %s")
	textProvider  = ui.T("You pay on the secure page of our payment provider. We never see your card.",
		"Vous payez sur la page sécurisée de notre prestataire de paiement. Nous ne voyons jamais votre carte.")
	textBack   = ui.T("Back to %s", "Retour à %s")
	textGiveUp = ui.T("Give up this deposit", "Abandonner cette caution")

	textGiveUpTitle = ui.T("Give up this deposit?", "Abandonner cette caution ?")
	textGiveUpSays  = ui.T("The deposit of %s for %s is then cancelled for good. Nothing is charged.",
		"La caution de %s pour %s est alors annulée définitivement. Rien n’est débité.")
	textGiveUpAsk = ui.T("If you change your mind afterwards, you need a new link from %s.",
		"Si vous changez d’avis ensuite, il vous faudra un nouveau lien de %s.")
	textGiveUpNow = ui.T("Give up for good", "Abandonner définitivement")
	textKeep      = ui.T("Back, change nothing", "Retour, ne rien changer")

	textPaymentFailed = ui.T(
		"The payment did not go through. Nothing was charged. You can try again, perhaps with another card.",
		"Le paiement n’a pas abouti. Rien n’a été débité. Vous pouvez réessayer, par exemple avec une autre carte.")
	textPaymentOpen = ui.T("You have already begun to pay. Continue to get back to the payment page.",
		"Vous avez déjà commencé à payer. Continuez pour revenir à la page de paiement.")
	textUnpaid = ui.T("You came back without paying. Nothing was charged.",
		"Vous êtes revenu sans payer. Rien n’a été débité.")

	textReopen       = ui.T("Not secured yet", "Pas encore garantie")
	textReopenUnpaid = ui.T(
		"You came back without paying. Nothing was charged. To try again, open the link to this deposit once more.",
		"Vous êtes revenu sans payer. Rien n’a été débité. Pour réessayer, rouvrez le lien de cette caution.")
	textReopenFailed = ui.T(
		"The payment did not go through. Nothing was charged. To try again, open the link to this deposit once more.",
		"Le paiement n’a pas abouti. Rien n’a été débité. Pour réessayer, rouvrez le lien de cette caution.")

	textMistakes     = ui.T("Please check your details:", "Vérifiez vos informations :")
	textNoFirstName  = ui.T("Enter your first name.", "Saisissez votre prénom.")
	textBadFirstName = ui.T("The first name is too long or has characters that we cannot read.",
		"Le prénom est trop long ou contient des caractères illisibles.")
	textNoLastName  = ui.T("Enter your last name.", "Saisissez votre nom.")
	textBadLastName = ui.T("The last name is too long or has characters that we cannot read.",
		"Le nom est trop long ou contient des caractères illisibles.")
	textBadEmail = ui.T("Enter a valid e-mail address, such as name@example.com.",
		"Saisissez une adresse e-mail valide, par exemple nom@exemple.fr.")

	textNotAgreed        = ui.T("Tick the box to agree before you pay.", "Cochez la case pour accepter avant de payer.")
	textAgreementChanged = ui.T("What you agree to has changed. Read it again, and tick the box to agree.",
		"Ce que vous acceptez a changé. Relisez-le, puis cochez la case pour accepter.")

	textStayOver        = ui.T("Your stay is over", "Votre séjour est terminé")
	textStayOverMessage = ui.T(
		"There is nothing left to secure. You pay nothing: a payment that came too late goes back to you.",
		"Il n’y a plus rien à garantir. Vous n’avez rien à payer : un paiement arrivé trop tard vous est rendu.")

	textSecured        = ui.T("Your deposit is secured", "Votre caution est garantie")
	textSecuredMessage = ui.T(
		"%s is covered for %s until %s. There is nothing more to do, and nothing is blocked on your card.",
		"%s est couvert à hauteur de %s jusqu’au %s. Vous n’avez plus rien à faire et rien n’est bloqué sur votre carte.")
	textClosed        = ui.T("This deposit has ended", "Cette caution est terminée")
	textClosedMessage = ui.T("The cover is over and nothing was claimed. There is nothing more to do.",
		"La couverture est terminée et rien n’a été réclamé. Vous n’avez plus rien à faire.")
	textCaptured        = ui.T("This deposit was claimed", "Cette caution a été réclamée")
	textCapturedMessage = ui.T("%s claimed %s of your deposit of %s.", "%s a réclamé %s de votre caution de %s.")
	textDebtOpen        = ui.T("Please pay the claimed amount", "Veuillez payer le montant réclamé")
	textDebtPaid        = ui.T("The claimed amount is paid", "Le montant réclamé est payé")
	textDebtScheduled   = ui.T("The amount is charged to the card that you paid the fee with.",
		"Le montant est débité de la carte avec laquelle vous avez payé les frais.")
	textDebtRetrying = ui.T("Your card was refused. We charge it again.",
		"Votre carte a été refusée. Nous la débiterons de nouveau.")
	textDebtRefused = ui.T(
		"Your card was refused, and nothing was charged. Please pay with this card or with another.",
		"Votre carte a été refusée et rien n’a été débité. Payez avec cette carte ou avec une autre.")
	textDebtIsPaid = ui.T("You have paid already. There is nothing more to do.",
		"Vous avez déjà payé. Vous n’avez plus rien à faire.")
	textDebtOver       = ui.T("The amount is not charged any more.", "Le montant n’est plus débité.")
	textDebtNothingDue = ui.T("Nothing is due any more", "Vous ne devez plus rien")
	textDebtSettled    = ui.T("Since then %s told us that you paid in another way. There is nothing more to do.",
		"Depuis, %s nous a indiqué que vous avez payé autrement. Vous n’avez plus rien à faire.")
	textDebtWithdrawn = ui.T("Since then %s dropped the claim. There is nothing more to do.",
		"Depuis, %s a renoncé à la réclamation. Vous n’avez plus rien à faire.")
	textDebtReason    = ui.T("Reason", "Motif")
	textDebtWords     = ui.T("In the words of %s", "Précisions de %s")
	textDebtCharged   = ui.T("Charged on", "Débité le")
	textDebtPaidOn    = ui.T("Paid on", "Payé le")
	textDebtPayUntil  = ui.T("To be paid here until", "À payer ici jusqu’au")
	textDebtNext      = ui.T("What happens next", "Et ensuite")
	textDebtIfRefused = ui.T(
		"If the card is refused, we try again within some days, or mail you a link to pay with another card.",
		"Si la carte est refusée, nous réessayons dans les jours qui suivent ou vous envoyons un lien pour payer avec une autre carte.")
	textDebtMailed = ui.T("Once the amount is paid, you get an e-mail.",
		"Une fois le montant payé, vous recevez un e-mail.")
	textObject     = ui.T("If you do not agree", "Si vous n’êtes pas d’accord")
	textObjectTell = ui.T("Tell %s why, and name the reference %s. You can also object to the charge at your bank.",
		"Dites pourquoi à %s en indiquant la référence %s. Vous pouvez aussi contester le débit auprès de votre banque.")
	textObjectWrite = ui.T(
		"Tell %s why, or write to %s and name the reference %s. You can also object to the charge at your bank.",
		"Dites pourquoi à %s ou écrivez à %s en indiquant la référence %s. Vous pouvez aussi contester le débit auprès de votre banque.")
	textExpired        = ui.T("It is too late for this deposit", "Il est trop tard pour cette caution")
	textExpiredMessage = ui.T(
		"The time to secure it is over. Nothing was charged. If you still need it, please ask %s for a new link.",
		"Le délai pour la garantir est écoulé. Rien n’a été débité. Si vous en avez encore besoin, demandez un nouveau lien à %s.")
	textDeclined        = ui.T("We cannot secure this deposit", "Nous ne pouvons pas garantir cette caution")
	textDeclinedMessage = ui.T(
		"Your request was not accepted. Nothing was charged. Please ask %s for another way to leave a deposit.",
		"Votre demande n’a pas été acceptée. Rien n’a été débité. Demandez à %s un autre moyen de laisser une caution.")
	textAbandoned        = ui.T("You gave up this deposit", "Vous avez abandonné cette caution")
	textAbandonedMessage = ui.T("Nothing was charged. If you change your mind, please ask %s for a new link.",
		"Rien n’a été débité. Si vous changez d’avis, demandez un nouveau lien à %s.")
	textCancelled        = ui.T("This deposit was cancelled", "Cette caution a été annulée")
	textCancelledMessage = ui.T(
		"There is nothing to pay and nothing was charged. If this surprises you, please contact %s.",
		"Il n’y a rien à payer et rien n’a été débité. Si cela vous surprend, contactez %s.")

	textAway        = ui.T("Back in a moment", "De retour dans un instant")
	textAwayMessage = ui.T(
		"We cannot answer right now. Nothing is lost: if you have paid already, it will be recorded by itself. Please try again in a moment.",
		"Nous ne pouvons pas répondre pour le moment. Rien n’est perdu : si vous avez déjà payé, ce sera enregistré automatiquement. Réessayez dans un instant.")
	textProviderAway = ui.T(
		"We could not reach the payment service. Nothing is lost: if you have paid already, it will be recorded by itself. Please try again in a moment.",
		"Le service de paiement est injoignable. Rien n’est perdu : si vous avez déjà payé, ce sera enregistré automatiquement. Réessayez dans un instant.")
	textAgain = ui.T("Try again", "Réessayer")
)

// captureReasons maps the reasons of a capture to texts for the tenant, worded as in the mail about a claim.
var captureReasons = map[string]ui.LocalizedText{
	"damage":         ui.T("Damage", "Dommage"),
	"cleaning":       ui.T("Cleaning", "Ménage"),
	"missing_items":  ui.T("Missing items", "Objets manquants"),
	"unpaid_charges": ui.T("Unpaid charges", "Charges impayées"),
	"other":          ui.T("Other", "Autre"),
}

func init() {
	ui.RegisterErrorText(errUnknownLink.Code, ui.T("This link does not work", "Ce lien ne fonctionne pas"),
		ui.T("There is no deposit at this address. Please check that the link is complete, or ask for a new one.",
			"Il n’y a pas de caution à cette adresse. Vérifiez que le lien est complet, ou demandez-en un nouveau."))
}
