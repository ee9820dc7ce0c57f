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

	textEmail        = ui.T("E-mail", "E-mail")
	textPassword     = ui.T("Password", "Mot de passe")
	textPasswordHint = ui.T("At least 10 characters. A sentence is easy to remember.", "Au moins 10 caractères. Une phrase se retient facilement.")
	textCompany      = ui.T("Company name", "Nom de l’entreprise")

	textTerms       = ui.T("Once linked, %s can:", "Une fois relié, %s pourra :")
	textTermsCreate = ui.T("create deposits for your rentals, up to your maximum", "créer des cautions pour vos locations, dans la limite de votre plafond")
	textTermsSend   = ui.T("record your tenants and send them the deposit link", "enregistrer vos locataires et leur envoyer le lien de caution")
	textTermsAct    = ui.T("cancel, release and collect the deposits it created", "annuler, libérer et encaisser les cautions qu’il a créées")
	textTermsRead   = ui.T("see deposits you make here while linked, and follow their status", "voir les cautions que vous créez ici tant que le lien existe, et suivre leur état")
	textTermsNever  = ui.T("It never sees your password, and you can unlink it at any time.", "Il ne voit jamais votre mot de passe, et vous pouvez le délier à tout moment.")
	textThenReturn  = ui.T("Afterwards you go back to %s.", "Vous retournerez ensuite sur %s.")

	textConsent    = ui.T("Link your account to %s?", "Relier votre compte à %s ?")
	textSignedInAs = ui.T("You are logged in as %s.", "Vous êtes connecté en tant que %s.")
	textLinkAs     = ui.T("Link to %s as %s", "Relier à %s en tant que %s")
	textUseAnother = ui.T("Use another account", "Utiliser un autre compte")

	textPartner = ui.T("Partner", "Partenaire")
	textNumber  = ui.T("Your number at %s", "Votre numéro chez %s")
	textOwner   = ui.T("This number is linked already, to the account of %s. Log in to that account.", "Ce numéro est déjà relié, au compte de %s. Connectez-vous à ce compte.")

	textSideYou    = ui.T("You are logged in as %s, for %s.", "Vous êtes connecté en tant que %s, pour %s.")
	textSideLinked = ui.T("Your account is linked to %s, under number %s.", "Votre compte est relié à %s, sous le numéro %s.")
	textSideWanted = ui.T("This link would connect it to %s, under number %s.", "Ce lien le relierait à %s, sous le numéro %s.")
	textSideOwner  = ui.T("Number %s is linked to the account of %s.", "Le numéro %s est relié au compte de %s.")

	textDone        = ui.T("Your account is linked to %s", "Votre compte est relié à %s")
	textDoneReturn  = ui.T("You can now continue on this site:", "Vous pouvez maintenant continuer sur ce site :")
	textDoneCaution = ui.T("%s has not registered this address with us. Continue only if you know it.", "%s n’a pas déclaré cette adresse chez nous. Continuez seulement si vous la connaissez.")
	textContinueTo  = ui.T("Continue to %s", "Continuer vers %s")
	textBackTo      = ui.T("Go back to %s", "Retourner sur %s")
	textToDashboard = ui.T("Go to your dashboard", "Aller à votre espace")
)
