package account

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/connect"
)

func init() {
	ui.RegisterErrorText(connect.ErrTokenVoid.Code, ui.T("This link no longer works", "Ce lien ne fonctionne plus"),
		ui.T("It was used already, it is too old, or it is incomplete. Each link works once.",
			"Il a déjà servi, il est trop ancien, ou il est incomplet. Chaque lien ne sert qu’une fois."))
}

var (
	textEmail        = ui.T("E-mail", "E-mail")
	textPassword     = ui.T("New password", "Nouveau mot de passe")
	textPasswordHint = ui.T("At least 10 characters. A sentence is easy to remember.",
		"Au moins 10 caractères. Une phrase se retient facilement.")
	textToLogin = ui.T("Go to the login page", "Aller à la page de connexion")
	textToDesk  = ui.T("Go to your pages", "Aller à votre espace")

	textVerify     = ui.T("Verify your e-mail address", "Vérifiez votre adresse e-mail")
	textVerifyLead = ui.T("Is %s your address? Verify it if you created an account with it.",
		"%s est-elle votre adresse ? Vérifiez-la si vous avez créé un compte avec elle.")
	textChangeLead = ui.T(
		"%s becomes the address of your account. You then log in with it, and other browsers are logged out.",
		"%s devient l’adresse de votre compte. Vous vous connecterez avec elle, et les autres navigateurs seront déconnectés.")
	textVerifyButton   = ui.T("Verify the address", "Vérifier l’adresse")
	textVerifyPassword = ui.T(
		"This browser is not logged in to the account, so please enter its password. If you did not create it, close this page: nothing happens without you.",
		"Ce navigateur n’est pas connecté au compte : saisissez-en le mot de passe. Si vous ne l’avez pas créé, fermez cette page : rien ne se passe sans vous.")
	textAccountPassword = ui.T("Password of the account", "Mot de passe du compte")
	textPasswordWrong   = ui.T("This is not the password of the account.", "Ce n’est pas le mot de passe du compte.")
	textPasswordMissing = ui.T("Enter the password of the account.", "Saisissez le mot de passe du compte.")
	textVerified        = ui.T("Your address is verified", "Votre adresse est vérifiée")
	textVerifiedLead    = ui.T("Thank you. There is nothing more to do.", "Merci. Il n’y a rien d’autre à faire.")

	textForgot     = ui.T("Forgot your password?", "Mot de passe oublié ?")
	textForgotLead = ui.T("Enter your e-mail address. We send you a link to choose a new password.",
		"Saisissez votre adresse e-mail. Nous vous envoyons un lien pour choisir un nouveau mot de passe.")
	textForgotButton = ui.T("Send the link", "Envoyer le lien")
	textSent         = ui.T("Look into your mailbox", "Consultez votre messagerie")
	textSentLead     = ui.T("If there is an account with this address, a link is on its way. It works for 30 minutes.",
		"S’il existe un compte avec cette adresse, un lien est en route. Il fonctionne pendant 30 minutes.")
	textAskAgain = ui.T("Ask for a new link", "Demander un nouveau lien")

	textReset     = ui.T("Choose a new password", "Choisissez un nouveau mot de passe")
	textResetLead = ui.T("All browsers are logged out. You then log in with the new password.",
		"Tous les navigateurs seront déconnectés. Vous vous connecterez ensuite avec le nouveau mot de passe.")
	textResetButton = ui.T("Save the password", "Enregistrer le mot de passe")
)
