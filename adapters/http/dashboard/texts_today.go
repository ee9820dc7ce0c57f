package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	depositports "partnerdeposits/ports/deposits"
)

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
