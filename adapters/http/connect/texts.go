package connect

import "partnerdeposits/adapters/http/ui"

var (
	textSignUp        = ui.T("Create your account", "Créez votre compte")
	textSignUpPartner = ui.T("Create your account and link it to %s", "Créez votre compte et reliez-le à %s")
	textSignUpButton  = ui.T("Create account", "Créer le compte")
	textSignUpAndLink = ui.T("Create account and link to %s", "Créer le compte et le relier à %s")
	textLogIn         = ui.T("Log in", "Connectez-vous")
	textLogInPartner  = ui.T("Log in to link your account to %s", "Connectez-vous pour relier votre compte à %s")
	textLogInButton   = ui.T("Log in", "Se connecter")
	textLogInAndLink  = ui.T("Log in and link to %s", "Se connecter et relier à %s")
	textHaveAccount   = ui.T("Already have an account?", "Vous avez déjà un compte ?")
	textLogInInstead  = ui.T("Log in", "Connectez-vous")
	textNoAccount     = ui.T("No account yet?", "Pas encore de compte ?")
	textSignUpInstead = ui.T("Create one", "Créez-en un")

	textForgot      = ui.T("Forgot your password?", "Mot de passe oublié ?")
	textPasswordSet = ui.T("Your new password is saved. Log in with it.",
		"Votre nouveau mot de passe est enregistré. Connectez-vous avec lui.")

	textEmail        = ui.T("E-mail", "E-mail")
	textPassword     = ui.T("Password", "Mot de passe")
	textPasswordHint = ui.T("At least 10 characters. A sentence is easy to remember.",
		"Au moins 10 caractères. Une phrase se retient facilement.")
	textCompany = ui.T("Company name", "Nom de l’entreprise")

	textCodeTitle   = ui.T("Enter your code", "Saisissez votre code")
	textCodePartner = ui.T("Enter your code to link your account to %s",
		"Saisissez votre code pour relier votre compte à %s")
	textCode     = ui.T("Code", "Code")
	textCodeHint = ui.T("The six digits that your authenticator app shows, or a recovery code.",
		"Les six chiffres qu’affiche votre application d’authentification, ou un code de secours.")
	textAppCodeHint = ui.T("The six digits that your authenticator app shows.",
		"Les six chiffres qu’affiche votre application d’authentification.")
	textUseRecovery = ui.T("Use a recovery code", "Utiliser un code de secours")
	textCodeButton  = ui.T("Continue", "Continuer")
	textCodeAndLink = ui.T("Continue and link to %s", "Continuer et relier à %s")
	textCodeRestart = ui.T("Not you, or no time left?", "Ce n’est pas vous, ou le temps est écoulé ?")

	textTerms      = ui.T("Once linked, %s can:", "Une fois relié, %s pourra :")
	textThenReturn = ui.T("Afterwards you go back to %s.", "Vous retournerez ensuite sur %s.")

	textConsent    = ui.T("Link your account to %s?", "Relier votre compte à %s ?")
	textSignedInAs = ui.T("You are logged in as %s.", "Vous êtes connecté en tant que %s.")
	textLinkAs     = ui.T("Link to %s as %s", "Relier à %s en tant que %s")
	textUseAnother = ui.T("Use another account", "Utiliser un autre compte")

	textLinked   = ui.T("You are linked", "Vous êtes relié")
	textLinkedTo = ui.T("The account of %s is linked to %s, under number %s.",
		"Le compte de %s est relié à %s, sous le numéro %s.")
	textOpen = ui.T("Open", "Ouvrir")

	textPartner = ui.T("Partner", "Partenaire")
	textNumber  = ui.T("Your number at %s", "Votre numéro chez %s")
	textOwner   = ui.T("This number is linked already, to the account of %s. Log in to that account.",
		"Ce numéro est déjà relié, au compte de %s. Connectez-vous à ce compte.")

	textSideYou    = ui.T("You are logged in as %s, for %s.", "Vous êtes connecté en tant que %s, pour %s.")
	textSideLinked = ui.T("Your account is linked to %s, under number %s.",
		"Votre compte est relié à %s, sous le numéro %s.")
	textSideWanted = ui.T("This link would connect it to %s, under number %s.",
		"Ce lien le relierait à %s, sous le numéro %s.")
	textSideOwner = ui.T("Number %s is linked to the account of %s.", "Le numéro %s est relié au compte de %s.")

	textDone        = ui.T("Your account is linked to %s", "Votre compte est relié à %s")
	textDoneReturn  = ui.T("You can now continue on this site:", "Vous pouvez maintenant continuer sur ce site :")
	textDoneCaution = ui.T("%s has not registered this address with us. Continue only if you know it.",
		"%s n’a pas déclaré cette adresse chez nous. Continuez seulement si vous la connaissez.")
	textContinueTo  = ui.T("Continue to %s", "Continuer vers %s")
	textBackTo      = ui.T("Go back to %s", "Retourner sur %s")
	textToDashboard = ui.T("Go to your dashboard", "Aller à votre espace")
)

var (
	textEnded = ui.T("Your session has ended. Log in to go on.",
		"Votre session a pris fin. Connectez-vous pour continuer.")
	textEndedKept = ui.T("Your session has ended. Nothing was sent. Log in within 15 minutes: your text comes back.",
		"Votre session a pris fin. Rien n’a été envoyé. Connectez-vous dans les 15 minutes : votre texte reviendra.")
	textEndedLost = ui.T("Your session has ended. Nothing was sent, and your text was too long to be kept.",
		"Votre session a pris fin. Rien n’a été envoyé, et votre texte était trop long pour être conservé.")
)

func init() {
	ui.RegisterErrorText("wrong_code", ui.T("Check the code", "Vérifiez le code"),
		ui.T("This code is not right, or was used before. Wait for the next code of your app.",
			"Ce code n’est pas le bon, ou a déjà servi. Attendez le prochain code de votre application."))
	ui.RegisterErrorText("too_many_codes", ui.T("Too many wrong codes", "Trop de codes erronés"),
		ui.T("There were too many wrong codes. Wait some minutes, then try again.",
			"Il y a eu trop de codes erronés. Attendez quelques minutes, puis réessayez."))
}
