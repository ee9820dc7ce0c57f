package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
)

// plural is a text for the number 1, and one for several with the number as %s.
type plural struct{ one, several ui.LocalizedText }

var (
	textSeveralAsks = map[deposits.BulkAct]plural{
		deposits.ActSendLinks: {ui.T("Send the link to 1 tenant?", "Envoyer le lien à 1 locataire ?"),
			ui.T("Send the link to %s tenants?", "Envoyer le lien à %s locataires ?")},
		deposits.ActRemindTenants: {ui.T("Remind 1 tenant?", "Relancer 1 locataire ?"),
			ui.T("Remind %s tenants?", "Relancer %s locataires ?")},
	}
	textSeveralSays = map[deposits.BulkAct]ui.LocalizedText{
		deposits.ActSendLinks: ui.T("We mail each of these tenants the link to pay for the deposit.",
			"Nous envoyons à chacun de ces locataires le lien pour payer la caution."),
		deposits.ActRemindTenants: ui.T("We mail each of these tenants the link to pay what was refused.",
			"Nous envoyons à chacun de ces locataires le lien pour payer ce qui a été refusé."),
	}
	textSeveralNobody = map[deposits.BulkAct]ui.LocalizedText{
		deposits.ActSendLinks: ui.T("The link can be sent to none of these tenants",
			"Le lien ne peut être envoyé à aucun de ces locataires"),
		deposits.ActRemindTenants: ui.T("None of these tenants can be reminded",
			"Aucun de ces locataires ne peut être relancé"),
	}
	textSeveralSent = plural{ui.T("1 link is on its way.", "1 lien est en route."),
		ui.T("%s links are on their way.", "%s liens sont en route.")}
	textSeveralStopped = ui.T(
		"No more links could be sent: you can send 100 an hour. Tick the deposits that were left out again later.",
		"Aucun autre lien n’a pu être envoyé : vous pouvez en envoyer 100 par heure. Cochez plus tard les cautions laissées de côté.")
	textSeveralRetry = ui.T("We charge the card again by ourselves first.",
		"Nous débitons d’abord nous-mêmes la carte une nouvelle fois.")
	textSeveralTo      = ui.T("Will get the link", "Recevront le lien")
	textSeveralMailed  = ui.T("Links sent", "Liens envoyés")
	textSeveralLeft    = ui.T("Left out", "Laissées de côté")
	textSeveralUnnamed = ui.T("Tenant not known", "Locataire inconnu")
	textSeveralTitle   = ui.T("Several deposits", "Plusieurs cautions")
	textSeveralBack    = ui.T("Your session had ended, and nothing was sent.",
		"Votre session avait pris fin et rien n’a été envoyé.")
	textTickSome = ui.T("No deposit is ticked. Tick the deposits whose tenants are to be mailed.",
		"Aucune caution n’est cochée. Cochez les cautions dont les locataires doivent recevoir un e-mail.")
	textTickFewer = ui.T("At most %d deposits can be ticked at once. Nothing was sent.",
		"Au plus %d cautions peuvent être cochées à la fois. Rien n’a été envoyé.")
)

// leftOut maps the reason why a ticked deposit's tenant is not mailed to its text. The argument of
// MailSkippedRemindedRecently is the time of the last mail.
var leftOut = map[deposits.MailSkipReason]ui.LocalizedText{
	deposits.MailSkippedNoAddress: ui.T("No e-mail address of the tenant is known.",
		"Aucune adresse e-mail du locataire n’est connue."),
	deposits.MailSkippedRemindedRecently: ui.T("We mailed the tenant on %s. The link can be sent again 24 hours later.",
		"Le locataire a reçu un e-mail le %s. Un nouvel envoi est possible 24 heures après."),
	deposits.MailSkippedAddressLimit: ui.T("This address has already got as many links as are allowed in 24 hours.",
		"Cette adresse a déjà reçu autant de liens que permis en 24 heures."),
	deposits.MailSkippedAccountLimit: ui.T("You have sent 100 links within an hour.",
		"Vous avez envoyé 100 liens en une heure."),
}

// leftOver maps an act on several deposits to the text that it is impossible on one, whose argument is the
// deposit's state.
var leftOver = map[deposits.BulkAct]ui.LocalizedText{
	deposits.ActSendLinks: ui.T("The tenant cannot secure it any more. The deposit is: %s.",
		"Le locataire ne peut plus la garantir. La caution est : %s."),
	deposits.ActRemindTenants: ui.T("No refused payment waits for the tenant. The deposit is: %s.",
		"Aucun paiement refusé n’attend le locataire. La caution est : %s."),
}
