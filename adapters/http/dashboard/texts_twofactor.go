package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/twofactor"
)

func init() {
	ui.RegisterErrorText(twofactor.ErrAlreadyEnabled.Code, ui.T("Already on", "Déjà activés"),
		ui.T("Nothing was changed: two-factor codes are on already.",
			"Rien n’a été modifié : les codes à deux facteurs sont déjà activés."))
	ui.RegisterErrorText(twofactor.ErrNotEnabled.Code, ui.T("Not on", "Non activés"),
		ui.T("Nothing was changed: two-factor codes are off. Set them up first.",
			"Rien n’a été modifié : les codes à deux facteurs sont désactivés. Configurez-les d’abord."))
}

var (
	textCodes    = ui.T("Two-factor codes", "Codes à deux facteurs")
	textCodesOff = ui.T(
		"Your password alone opens your account. With two-factor codes, a log-in and a claim also ask for a code that an app on your phone shows.",
		"Votre mot de passe suffit pour ouvrir votre compte. Avec les codes à deux facteurs, une connexion et une réclamation demandent aussi un code affiché par une application de votre téléphone.")
	textCodesOn = ui.T("A log-in and a claim ask for a code.",
		"Une connexion et une réclamation demandent un code.")
	textCodesSince  = ui.T("On since", "Activés depuis")
	textCodesLeft   = ui.T("Recovery codes left", "Codes de secours restants")
	textSetUp       = ui.T("Set up two-factor codes", "Configurer les codes à deux facteurs")
	textSetUpButton = ui.T("Show the key for the app", "Afficher la clé pour l’application")
	textCodesVerify = ui.T("Verify your e-mail address first: then you can set them up here.",
		"Vérifiez d’abord votre adresse e-mail : vous pourrez ensuite les configurer ici.")
	textCodesRenew  = ui.T("New recovery codes", "Nouveaux codes de secours")
	textRenewHint   = ui.T("The present ones stop working.", "Les codes actuels cesseront de fonctionner.")
	textRenewButton = ui.T("Replace the recovery codes", "Remplacer les codes de secours")
	textTurnOff     = ui.T("Turn two-factor codes off", "Désactiver les codes à deux facteurs")
	textTurnOffHint = ui.T("Afterwards your password alone opens your account.",
		"Ensuite, votre mot de passe suffira pour ouvrir votre compte.")
	textTurnOffButton = ui.T("Turn off", "Désactiver")
	textPasswordNow   = ui.T("Your password", "Votre mot de passe")
	textCodesAreOff   = ui.T("Two-factor codes are off. Your other sessions have ended.",
		"Les codes à deux facteurs sont désactivés. Vos autres sessions ont pris fin.")

	textCode     = ui.T("Code", "Code")
	textCodeHint = ui.T("The six digits that your authenticator app shows, or a recovery code.",
		"Les six chiffres qu’affiche votre application d’authentification, ou un code de secours.")

	textEnrol     = ui.T("Set up two-factor codes", "Configurer les codes à deux facteurs")
	textEnrolScan = ui.T("Scan this picture with an authenticator app, or type the key into it.",
		"Scannez cette image avec une application d’authentification, ou saisissez-y la clé.")
	textEnrolQR     = ui.T("QR code with the key below", "Code QR contenant la clé ci-dessous")
	textEnrolKey    = ui.T("Key", "Clé")
	textEnrolCode   = ui.T("The code that the app shows", "Le code qu’affiche l’application")
	textEnrolButton = ui.T("Turn two-factor codes on", "Activer les codes à deux facteurs")
	textEnrolBack   = ui.T("Back, and change nothing", "Revenir sans rien modifier")

	textRecoveryTitle = ui.T("Your recovery codes", "Vos codes de secours")
	textCodesAreOn    = ui.T("Two-factor codes are on. Your other sessions have ended.",
		"Les codes à deux facteurs sont activés. Vos autres sessions ont pris fin.")
	textCodesReplaced = ui.T("The earlier recovery codes no longer work. Your other sessions have ended.",
		"Les codes de secours précédents ne fonctionnent plus. Vos autres sessions ont pris fin.")
	textRecoveryKeep = ui.T(
		"Each of these codes works once, in place of a code of your app. Keep them where you find them without your phone. We show them this one time.",
		"Chacun de ces codes fonctionne une fois, à la place d’un code de votre application. Conservez-les là où vous les trouverez sans votre téléphone. Nous ne les affichons que cette fois.")
	textRecoveryPrint = ui.T("Copy them, or print this page: the codes alone are printed.",
		"Copiez-les, ou imprimez cette page : seuls les codes sont imprimés.")
	textRecoveryDone = ui.T("I have kept them", "Je les ai conservés")
)
