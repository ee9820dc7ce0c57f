package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	depositports "partnerdeposits/ports/deposits"
)

var (
	textToday   = ui.T("Today", "Aujourd’hui")
	textMaximum = ui.T("Maximum deposit", "Plafond de caution")
	textAccount = ui.T("Account number", "Numéro de compte")
	textNothing = ui.T("Nothing needs your attention. Deposits that wait for something show here.",
		"Rien ne demande votre attention. Les cautions en attente apparaîtront ici.")
	textShowAll   = ui.T("Show all %s", "Tout afficher (%s)")
	textNumbers   = ui.T("At a glance", "En un coup d’œil")
	textNeeds     = ui.T("Needs you", "À faire")
	textRemindAll = ui.T("Remind all refused (%d)", "Relancer tous les refus (%d)")
	textYear      = ui.T("Deposits made in twelve months", "Cautions créées en douze mois")
	textYearTotal = ui.T("%d in all, %d in the busiest month.", "%d au total, %d pour le mois le plus chargé.")
	textTable     = ui.T("The numbers as a table", "Les chiffres en tableau")
	textMonth     = ui.T("Month", "Mois")
	textMade      = ui.T("Deposits", "Cautions")

	textFigureActive   = ui.T("Secured now", "Garanties en ce moment")
	textFigureAwaiting = ui.T("Awaiting the tenant", "En attente du locataire")
	textFigureRefused  = ui.T("Refused", "Refusées")
	textFigureMonth    = ui.T("Made this month", "Créées ce mois-ci")
	textFigureAmount   = ui.T("%s in all", "%s au total")
	textEnds           = ui.T("Cover ends on %s", "La couverture finit le %s")

	textTodayFind     = ui.T("Search", "Rechercher")
	textTodayNobody   = ui.T("No tenant yet", "Pas encore de locataire")
	textTodaySend     = ui.T("Send again", "Renvoyer")
	textTodayRemind   = ui.T("Remind", "Relancer")
	textTodayReminded = ui.T("Reminded on %s", "Relance envoyée le %s")
	textTodayClaim    = ui.T("Claim", "Réclamer")
	textTodayOpen     = ui.T("Open", "Ouvrir")
)

var (
	textSteps          = ui.T("Three steps to begin", "Trois étapes pour commencer")
	textStepDone       = ui.T("Done", "Fait")
	textStepOpen       = ui.T("To do", "À faire")
	textStepVerify     = ui.T("Verify your e-mail address", "Confirmez votre adresse e-mail")
	textStepVerifySays = ui.T("Links and claims are mailed in your name.",
		"Les liens et les réclamations partent en votre nom.")
	textStepDeposit     = ui.T("Make the first deposit", "Créez la première caution")
	textStepDepositSays = ui.T("Amount and stay, and we mail your tenant the link.",
		"Montant et séjour, puis nous envoyons le lien à votre locataire.")
	textStepCodes     = ui.T("Turn on two-factor codes", "Activez les codes à deux facteurs")
	textStepCodesSays = ui.T("A code of your phone then protects log-in and claims.",
		"Un code de votre téléphone protège alors la connexion et les réclamations.")
)

// Texts about what an account got before a password reset first proved the operator's e-mail address: somebody
// else may have signed up with it.
var (
	textEarlier     = ui.T("Made before you proved your address", "Créé avant que vous ne confirmiez votre adresse")
	textEarlierLead = ui.T(
		"Until %s nobody had shown that the address of this account is theirs. Two-factor codes and sessions from before have ended; the following is still there. Look whether you know it.",
		"Jusqu’au %s, personne n’avait montré que l’adresse de ce compte était la sienne. Les codes à deux facteurs et les sessions d’avant ont pris fin ; ce qui suit existe toujours. Vérifiez que vous le connaissez.")
	textEarlierPartner   = ui.T("The account is linked to %s since %s.", "Le compte est relié à %s depuis le %s.")
	textEarlierToPartner = ui.T("See the partner’s rights, or end the link",
		"Voir les droits du partenaire, ou mettre fin au lien")
)

// workTexts maps each kind of open work to the heading and hint of its group on the first page; the hint may be
// empty.
var workTexts = map[depositports.OverviewGroup]struct {
	title, hint ui.LocalizedText
	tone, icon  string
}{
	depositports.OverviewStayBeginning: {ui.T("Begins within 7 days, not secured", "Commence sous 7 jours, sans garantie"),
		ui.LocalizedText{},
		"bad", "i-alert"},
	depositports.OverviewPaymentRefused: {ui.T("Payment refused", "Paiement refusé"), ui.LocalizedText{}, "bad",
		"i-alert"},
	depositports.OverviewCardRefused: {ui.T("Claimed, card refused", "Réclamé, carte refusée"),
		ui.T("The tenant has a link to pay the claim with another card.",
			"Le locataire dispose d’un lien pour payer la réclamation avec une autre carte."), "bad", "i-alert"},
	depositports.OverviewCoverEnding: {ui.T("Cover ends within 7 days", "La couverture finit sous 7 jours"),
		ui.T("After that day nothing can be claimed. Look for damage before.",
			"Après ce jour, plus rien ne peut être réclamé. Vérifiez les dégâts avant."), "warn", "i-shield"},
	depositports.OverviewCollecting: {ui.T("Claimed, not paid yet", "Réclamé, pas encore payé"), ui.LocalizedText{}, "",
		"i-claim"},
	depositports.OverviewAwaitingTenant: {ui.T("Awaiting the tenant", "En attente du locataire"), ui.LocalizedText{}, "",
		"i-wait"},
}
