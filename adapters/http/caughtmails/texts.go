package caughtmails

import "partnerdeposits/adapters/http/ui"

var (
	textCaught     = ui.T("Caught mails", "E-mails interceptés")
	textCaughtLead = ui.T("This service has no mail server. Its mails stay here, newest first.",
		"Ce service n’a pas de serveur de messagerie. Ses e-mails restent ici, les plus récents d’abord.")
	textNoMails = ui.T("No mails yet. Sign up, or send the link of a deposit.",
		"Pas encore d’e-mails. Créez un compte, ou envoyez le lien d’une caution.")
	textAll    = ui.T("All caught mails", "Tous les e-mails interceptés")
	textTo     = ui.T("To", "À")
	textSent   = ui.T("Written", "Rédigé")
	textLinks  = ui.T("Links of this mail", "Liens de cet e-mail")
	textAsText = ui.T("As text", "En texte")
	textAsHTML = ui.T("HTML of %s", "HTML de %s")
)
