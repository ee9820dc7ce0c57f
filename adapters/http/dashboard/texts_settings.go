package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/connect"
)

func init() {
	ui.RegisterErrorText(connect.ErrEmailUnverified.Code, textVerifyFirst, textVerifyFirstLead)
}

var (
	textSettings = ui.T("Settings", "Réglages")

	textVerifyAsk     = ui.T("Your e-mail address", "Votre adresse e-mail")
	textVerifyAskLead = ui.T(
		"We mailed a link to %s. Open it to verify your address: until then you cannot claim from deposits or send links here. Nothing came? Look among unwanted mail, or have it sent again.",
		"Nous avons envoyé un lien à %s. Ouvrez-le pour vérifier votre adresse : d’ici là, vous ne pouvez ni réclamer de montants ni envoyer de liens ici. Rien reçu ? Regardez parmi les indésirables, ou faites-le renvoyer.")
	textResend          = ui.T("Send it again", "Renvoyer l’e-mail")
	textVerifyFirst     = ui.T("Verify your e-mail address first", "Vérifiez d’abord votre adresse e-mail")
	textVerifyFirstLead = ui.T(
		"Nothing was done. Claiming an amount, sending a link and two-factor codes need a verified address, so that your tenants deal with somebody whom we can reach. Have the e-mail sent again, open its link, and come back.",
		"Rien n’a été fait. Réclamer un montant, envoyer un lien et les codes à deux facteurs demandent une adresse vérifiée, afin que vos locataires aient affaire à quelqu’un que nous pouvons joindre. Faites renvoyer l’e-mail, ouvrez son lien, puis revenez.")
)

var (
	textSecurity    = ui.T("Security", "Sécurité")
	textAccountOf   = ui.T("Account", "Compte")
	textCompany     = ui.T("Company name", "Nom de l’entreprise")
	textLanguage    = ui.T("Language of your pages and e-mails", "Langue de vos pages et e-mails")
	textContactOf   = ui.T("Contact for tenants (optional)", "Contact pour vos locataires (facultatif)")
	textContactHint = ui.T(
		"An e-mail address or a telephone number. Tenants read it once they have paid, and when you claim an amount.",
		"Une adresse e-mail ou un numéro de téléphone. Vos locataires le lisent après le paiement et lorsque vous réclamez "+
			"un montant.")
	textBadContact = ui.T("Enter an e-mail address or a telephone number, or leave the field empty.",
		"Saisissez une adresse e-mail ou un numéro de téléphone, ou laissez le champ vide.")
	textZone     = ui.T("Time zone", "Fuseau horaire")
	textZoneHint = ui.T("Your pages show days and times of this zone. Tenants read the days of their stay in it.",
		"Vos pages affichent les jours et heures de ce fuseau. Vos locataires y lisent les jours de leur séjour.")
	textBadZone = ui.T("Choose a time zone from the list.", "Choisissez un fuseau horaire dans la liste.")
	textSave    = ui.T("Save", "Enregistrer")

	textChangeEmail     = ui.T("Change the address", "Changer l’adresse")
	textChangeEmailLead = ui.T(
		"We send a link to the new address. It replaces the old one when you open the link, and other browsers are logged out.",
		"Nous envoyons un lien à la nouvelle adresse. Elle remplace l’ancienne quand vous ouvrez le lien, et les autres navigateurs sont déconnectés.")
	textNewAddress   = ui.T("New e-mail", "Nouvel e-mail")
	textAddressTaken = ui.T("Another account has this address.", "Un autre compte a cette adresse.")

	textPassword           = ui.T("Password", "Mot de passe")
	textChangePassword     = ui.T("Change the password", "Changer le mot de passe")
	textChangePasswordLead = ui.T("Other browsers are logged out, and we send you an e-mail about the change.",
		"Les autres navigateurs sont déconnectés, et nous vous envoyons un e-mail à ce sujet.")
	textCurrent     = ui.T("Current password", "Mot de passe actuel")
	textNewPassword = ui.T("New password", "Nouveau mot de passe")
	textNewHint     = ui.T("At least 10 characters. A sentence is easy to remember.",
		"Au moins 10 caractères. Une phrase se retient facilement.")
	textWrongPassword = ui.T("The current password is wrong.", "Le mot de passe actuel est incorrect.")
	textBadLanguage   = ui.T("Choose a language of the list.", "Choisissez une langue de la liste.")

	textSessions     = ui.T("Where you are logged in", "Où vous êtes connecté")
	textSessionsLead = ui.T("If you do not know a browser, end its session and change your password.",
		"Si vous ne reconnaissez pas un navigateur, mettez fin à sa session et changez votre mot de passe.")
	textSomeBrowser = ui.T("Unknown browser", "Navigateur inconnu")
	textThisSession = ui.T("this one", "celui-ci")
	textLastUsed    = ui.T("Last used %s", "Dernière utilisation : %s")
	textSince       = ui.T("Logged in %s", "Connecté le %s")
	textEnd         = ui.T("End", "Mettre fin")
	textEndOf       = ui.T("End: %s. %s", "Mettre fin : %s. %s")
	textEndOthers   = ui.T("End all others", "Mettre fin à toutes les autres")
)

// doneEmailNow is the query parameter done after a change of e-mail address that took effect at once.
const doneEmailNow = "changed_email"

// settingsDone maps the intents of settings forms to the message that the form took effect.
var settingsDone = map[string]ui.LocalizedText{
	intentMails: textMailsDone,

	intentDisableTOTP: textCodesAreOff,

	intentPassword: ui.T("Your password is changed. Other browsers are logged out.",
		"Votre mot de passe est changé. Les autres navigateurs sont déconnectés."),
	intentEmail: ui.T("We have sent a link to the new address. Until you open it, your address stays as it is.",
		"Nous avons envoyé un lien à la nouvelle adresse. Tant que vous ne l’avez pas ouvert, votre adresse reste inchangée."),
	doneEmailNow: ui.T("Your address is changed. Other browsers are logged out.",
		"Votre adresse est changée. Les autres navigateurs sont déconnectés."),
	intentCompany:  ui.T("The name is saved.", "Le nom est enregistré."),
	intentLanguage: ui.T("The language is saved.", "La langue est enregistrée."),
	intentContact:  ui.T("The contact is saved.", "Le contact est enregistré."),
	intentZone:     ui.T("The time zone is saved.", "Le fuseau horaire est enregistré."),
	intentEnd:      ui.T("The session has ended.", "La session a pris fin."),
	intentResend: ui.T("The e-mail is on its way. Open its link to verify your address; it works for 24 hours.",
		"L’e-mail est en route. Ouvrez son lien pour vérifier votre adresse ; il fonctionne pendant 24 heures."),
}

var (
	textMailsTitle = ui.T("Notifications", "Notifications")
	textCoverMails = ui.T("Tell me when the cover of a deposit is about to end",
		"Me prévenir lorsque la couverture d’une caution arrive à échéance")
	textCoverHint = ui.T("At most one e-mail a day, 7 days ahead.", "Un e-mail par jour au plus, 7 jours à l’avance.")
	textMailsSave = ui.T("Save", "Enregistrer")
	textMailsDone = ui.T("Your choice is saved.", "Votre choix est enregistré.")
)
