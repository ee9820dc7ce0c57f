package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	depositports "partnerdeposits/ports/deposits"
)

func init() {
	ui.Explain(deposit.ErrNotFound.Code, ui.T("No such deposit", "Caution introuvable"),
		ui.T("Your account has no deposit at this address. Please check the link.",
			"Votre compte n’a pas de caution à cette adresse. Vérifiez le lien."))
}

var textRestored = ui.T(
	"Your session had ended, and nothing was sent. Your text is back: look at it and send it again.",
	"Votre session avait pris fin et rien n’a été envoyé. Votre texte est de retour : vérifiez-le et renvoyez-le.")

// The first page.
var (
	textToday   = ui.T("Today", "Aujourd’hui")
	textMaximum = ui.T("Maximum deposit", "Plafond de caution")
	textAccount = ui.T("Account number", "Numéro de compte")
	textNothing = ui.T("Nothing needs your attention. Deposits that wait for something show here.",
		"Rien ne demande votre attention. Les cautions en attente apparaîtront ici.")
	textShowAll   = ui.T("Show all %s", "Tout afficher (%s)")
	textNumbers   = ui.T("At a glance", "En un coup d’œil")
	textYear      = ui.T("Deposits made in twelve months", "Cautions créées en douze mois")
	textYearTotal = ui.T("%d in all, %d in the busiest month.", "%d au total, %d pour le mois le plus chargé.")
	textTable     = ui.T("The numbers as a table", "Les chiffres en tableau")
	textMonth     = ui.T("Month", "Mois")
	textMade      = ui.T("Deposits", "Cautions")

	textFigureActive   = ui.T("Secured now", "Garanties en ce moment")
	textFigureAwaiting = ui.T("Awaiting the tenant", "En attente du locataire")
	textFigureMonth    = ui.T("Made this month", "Créées ce mois-ci")
	textFigureAmount   = ui.T("%s in all", "%s au total")
	textEnds           = ui.T("Cover ends on %s", "La couverture finit le %s")
)

// The part of the first page that lists what the account got before its operator proved the e-mail address by a
// password reset: somebody else may have signed up with the address.
var (
	textEarlier     = ui.T("Made before you proved your address", "Créé avant que vous ne confirmiez votre adresse")
	textEarlierLead = ui.T(
		"Until %s nobody had shown that the address of this account is theirs. Two-factor codes and sessions from before have ended; the following is still there. Look whether you know it.",
		"Jusqu’au %s, personne n’avait montré que l’adresse de ce compte était la sienne. Les codes à deux facteurs et les sessions d’avant ont pris fin ; ce qui suit existe toujours. Vérifiez que vous le connaissez.")
	textEarlierPartner   = ui.T("The account is linked to %s since %s.", "Le compte est relié à %s depuis le %s.")
	textEarlierToPartner = ui.T("See the partner’s rights, or end the link",
		"Voir les droits du partenaire, ou mettre fin au lien")
)

var workTexts = map[depositports.Work]struct{ title, hint ui.Text }{
	depositports.WorkRefused: {
		ui.T("Payment refused", "Paiement refusé"),
		ui.T("The tenant’s payment did not go through. The tenant can try again: send the link once more.",
			"Le paiement du locataire n’a pas abouti. Il peut réessayer : renvoyez-lui le lien."),
	},
	depositports.WorkEnding: {
		ui.T("Cover ends within 7 days", "La couverture finit sous 7 jours"),
		ui.T("After that day nothing can be claimed. Look for damage before.",
			"Après ce jour, plus rien ne peut être réclamé. Vérifiez les dégâts avant."),
	},
	depositports.WorkCollecting: {
		ui.T("Claimed, not paid yet", "Réclamé, pas encore payé"),
		ui.T(
			"You claimed these amounts, and the tenant has not paid yet. We charge the card, or the tenant has a link to pay.",
			"Vous avez réclamé ces montants et le locataire n’a pas encore payé. Nous débitons sa carte, ou il dispose d’un lien pour payer."),
	},
	depositports.WorkAwaiting: {
		ui.T("Awaiting the tenant", "En attente du locataire"),
		ui.T("The tenant has not secured the deposit yet.", "Le locataire n’a pas encore garanti la caution."),
	},
}

// The list.
var (
	textDeposits    = ui.T("Deposits", "Cautions")
	textNewButton   = ui.T("New deposit", "Nouvelle caution")
	textFilter      = ui.T("Filter", "Filtrer")
	textFilterTitle = ui.T("Search and filter", "Rechercher et filtrer")
	textClear       = ui.T("Show all deposits", "Afficher toutes les cautions")
	textExport      = ui.T("Export as CSV", "Exporter en CSV")
	textSearch      = ui.T("Search", "Rechercher")
	textSearchHint  = ui.T("The beginning of names, of a reference, a booking or an e-mail address.",
		"Le début de noms, d’une référence, d’une réservation ou d’une adresse e-mail.")
	textStatus      = ui.T("Status", "État")
	textEveryStatus = ui.T("Every status", "Tous les états")
	textAwaiting    = ui.T("Awaiting the tenant or not finished", "En attente du locataire ou non terminée")
	textStayFrom    = ui.T("Stay from", "Séjour du")
	textStayTo      = ui.T("to", "au")
	textNoDeposits  = ui.T("There are no deposits yet. Those that you or your partner make will show here.",
		"Il n’y a pas encore de caution. Celles que vous ou votre partenaire créez apparaîtront ici.")
	textNoMatch     = ui.T("No deposit fits.", "Aucune caution ne correspond.")
	textNoMatchHere = ui.T("No deposit fits in this part of the list.",
		"Aucune caution ne correspond dans cette partie de la liste.")
	textOlder      = ui.T("Further deposits", "Cautions suivantes")
	textEndsBefore = ui.T("Only secured deposits whose cover ends before %s.",
		"Seulement les cautions garanties dont la couverture finit avant le %s.")
	textSearchOn    = ui.T("Search on", "Poursuivre la recherche")
	textNewest      = ui.T("Back to the first page", "Retour à la première page")
	textCheckFilter = ui.T("Please check these fields:", "Vérifiez ces champs :")

	textContract   = ui.T("Contract", "Contrat")
	textTenant     = ui.T("Tenant", "Locataire")
	textPeriod     = ui.T("Rental period", "Période de location")
	textCapturedOf = ui.T("%s of %s", "%s sur %s")
)

// Mistakes.
var (
	textBadStatus = ui.T("Choose a status of the list.", "Choisissez un état de la liste.")
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

var badPerson = map[string]ui.Text{
	fieldFirstName: ui.T("Enter the first name, in one line of 100 characters at most.",
		"Saisissez le prénom, sur une ligne de 100 caractères au plus."),
	fieldLastName: ui.T("Enter the last name, in one line of 100 characters at most.",
		"Saisissez le nom, sur une ligne de 100 caractères au plus."),
	fieldEmail: textBadEmail,
}

// A new deposit.
var (
	textNew     = ui.T("New deposit", "Nouvelle caution")
	textNewLead = ui.T(
		"The tenant gets a link, enters a card and pays the fee. Then your rental is covered; the deposit itself is not blocked.",
		"Le locataire reçoit un lien, saisit sa carte et paie les frais. Votre location est alors couverte ; la caution elle-même n’est pas bloquée.")
	textAmountEuros      = ui.T("Amount in euros", "Montant en euros")
	textAmountLimits     = ui.T("From %s to %s.", "De %s à %s.")
	textStartsOn         = ui.T("First day of the stay", "Premier jour du séjour")
	textEndsOn           = ui.T("Last day of the stay", "Dernier jour du séjour")
	textContractOptional = ui.T("Booking or contract (optional)", "Réservation ou contrat (facultatif)")
	textTenantOptional   = ui.T("Tenant (optional)", "Locataire (facultatif)")
	textFirstName        = ui.T("First name", "Prénom")
	textLastName         = ui.T("Last name", "Nom")
	textEmail            = ui.T("E-mail", "E-mail")
	textEmailHint        = ui.T(
		"We mail the link to this address at once. Without an address, you copy the link afterwards.",
		"Nous envoyons le lien à cette adresse aussitôt. Sans adresse, vous copierez le lien ensuite.")
	textCreate = ui.T("Make the deposit", "Créer la caution")
)

// The partner.
var (
	textPartner       = ui.T("Your partner", "Votre partenaire")
	textPartnerName   = ui.T("Partner", "Partenaire")
	textLinkedSince   = ui.T("Linked since", "Relié depuis")
	textNumber        = ui.T("Your number there", "Votre numéro chez lui")
	textRights        = ui.T("%s can:", "%s peut :")
	textRightsNever   = ui.T("It never sees your password.", "Il ne voit jamais votre mot de passe.")
	textUnlink        = ui.T("Unlink %s", "Délier %s")
	textConfirmUnlink = ui.T("Unlink %s?", "Délier %s ?")
	textUnlinkHint    = ui.T(
		"%s will no longer be able to create deposits for you or to read new ones. Deposits that exist stay as they are.",
		"%s ne pourra plus créer de cautions pour vous ni consulter les nouvelles. Les cautions existantes restent inchangées.")
	textUnlinkAgain = ui.T("We tell both of you by e-mail. To link again, you need a new link from your partner.",
		"Nous vous informons tous les deux par e-mail. Pour vous relier de nouveau, il vous faudra un nouveau lien de votre partenaire.")
	textUnlinkNow = ui.T("Unlink now", "Délier maintenant")
	textUnlinked  = ui.T("The link has ended. We have sent you an e-mail about it.",
		"Le lien a pris fin. Nous vous avons envoyé un e-mail à ce sujet.")
	textNoPartner = ui.T("Your account is not linked to a partner. To link it, open the link that your partner gives you.",
		"Votre compte n’est relié à aucun partenaire. Pour le relier, ouvrez le lien que votre partenaire vous donne.")
)

var statuses = map[deposit.Status]ui.Text{
	deposit.Pending:      ui.T("Awaiting the tenant", "En attente du locataire"),
	deposit.Incomplete:   ui.T("Not finished", "Non terminée"),
	deposit.Active:       ui.T("Secured", "Garantie"),
	deposit.Cancelled:    ui.T("Cancelled", "Annulée"),
	deposit.PaymentIssue: ui.T("Payment refused", "Paiement refusé"),
	deposit.Closed:       ui.T("Ended", "Terminée"),
	deposit.Captured:     ui.T("Claimed", "Réclamée"),
}

// The states of a claim.
var (
	textPaidState    = ui.T("Paid", "Payée")
	textCardRefused  = ui.T("Card refused", "Carte refusée")
	textNotPaid      = ui.T("Not paid", "Non payée")
	textSettledState = ui.T("Paid otherwise", "Payée autrement")
	textDroppedState = ui.T("Claim dropped", "Réclamation abandonnée")
)

// tones are the CSS classes that colour a status. The text alone tells the status, too.
var tones = map[deposit.Status]string{
	deposit.Active:       "good",
	deposit.PaymentIssue: "bad",
}

var authors = map[desk.Author]ui.Text{
	desk.ByOperator: ui.T("You", "Vous"),
	desk.ByPartner:  ui.T("The partner", "Le partenaire"),
	desk.ByTenant:   ui.T("The tenant", "Le locataire"),
	desk.ByClock:    ui.T("Automatic", "Automatique"),
	desk.ByService:  ui.T("The service", "Le service"),
}

var reasons = map[string]ui.Text{
	"damage":         ui.T("Damage", "Dégâts"),
	"cleaning":       ui.T("Cleaning", "Ménage"),
	"missing_items":  ui.T("Missing items", "Objets manquants"),
	"unpaid_charges": ui.T("Unpaid charges", "Charges impayées"),
	"other":          ui.T("Other", "Autre"),
}
