package ui

var (
	TextBrand         = T("Rental deposits", "Cautions locatives")
	TextSkipToContent = T("Skip to content", "Aller au contenu")
	TextLanguage      = T("Language", "Langue")
	TextError         = T("Error", "Erreur")
	TextRequestID     = T("Request id, for support:", "Numéro de requête, pour l’assistance :")
	TextOpenPageAgain = T("Open the page again", "Rouvrir la page")
	TextGoToToday     = T("Go to Today", "Aller à Aujourd’hui")
	TextGoToLogIn     = T("Go to the log-in", "Aller à la connexion")
	TextYourPages     = T("Your pages", "Vos pages")
	TextLogOut        = T("Log out", "Se déconnecter")
	textCopy          = T("Copy", "Copier")
	textCopied        = T("Copied.", "Copié.")
)

// ConsentPromise is a sentence on what a linked partner may do, with API routes and form intents that fulfil it,
// which a test checks.
type ConsentPromise struct {
	LocalizedText
	API []string // API routes by which the partner uses the right, as method and path.
	// Form intents by which the operator can do the same as the partner.
	Desk []string
}

// PartnerRights lists what a linked partner may do, for the consent page and the operator's page of the partner.
// The operator can do each thing, too.
var PartnerRights = []ConsentPromise{
	{
		T("create deposits for your rentals, up to your maximum",
			"créer des cautions pour vos locations, dans la limite de votre plafond"),
		[]string{"POST /deposits"}, []string{"create"},
	},
	{
		T("record your tenants and send them the deposit link",
			"enregistrer vos locataires et leur envoyer le lien de caution"),
		[]string{"POST /clients", "POST /deposits/{depositId}/send-link"}, []string{"create", "send_link"},
	},
	{
		T("cancel and release the deposits it created, and claim from them", "annuler ou libérer les cautions qu’il a créées, et y réclamer un montant"),
		[]string{"POST /deposits/{depositId}/cancel", "POST /deposits/{depositId}/release",
			"POST /deposits/{depositId}/capture"}, []string{"cancel", "release", "capture"},
	},
	{
		T("see deposits you make here while linked, and follow their status",
			"voir les cautions que vous créez ici tant que le lien existe, et suivre leur état"),
		[]string{"GET /deposits", "GET /deposits/{depositId}", "GET /events"}, []string{"create"},
	},
}

// UnlinkPromise promises that the operator can end the link.
var UnlinkPromise = ConsentPromise{
	T("It never sees your password, and you can unlink it at any time.",
		"Il ne voit jamais votre mot de passe, et vous pouvez le délier à tout moment."),
	[]string{"DELETE /accounts/{accountId}"}, []string{"unlink"},
}

// ErrorText is the title and message of an error code for people.
type ErrorText struct{ Title, Message LocalizedText }

var failures = map[string]ErrorText{
	"route_not_found": {
		T("Page not found", "Page introuvable"),
		T("There is no page at this address. Please check the link.",
			"Il n’y a pas de page à cette adresse. Vérifiez le lien."),
	},
	"method_not_allowed": {
		T("That does not work here", "Action impossible ici"),
		T("This page cannot be opened this way. Go back and try again.",
			"Cette page ne s’ouvre pas de cette façon. Revenez en arrière et réessayez."),
	},
	"payload_too_large": {
		T("Too much text", "Texte trop long"),
		T("What was sent is too large. Shorten it and try again.",
			"L’envoi est trop volumineux. Raccourcissez-le et réessayez."),
	},
	"unsupported_media_type": {
		T("Not readable", "Format illisible"),
		T("What was sent is in a form that we do not read.", "L’envoi est dans un format que nous ne lisons pas."),
	},
	"rate_limited": {
		T("Too many attempts", "Trop de tentatives"),
		T("There were too many attempts in a short time. Wait a minute, then try again.",
			"Il y a eu trop de tentatives en peu de temps. Attendez une minute, puis réessayez."),
	},
	"service_unavailable": {
		T("Back in a moment", "De retour dans un instant"),
		T("The service is temporarily unavailable. Please try again shortly.",
			"Le service est momentanément indisponible. Réessayez dans un instant."),
	},
	"internal_error": {
		T("Something went wrong", "Une erreur est survenue"),
		T("Something went wrong on our side. If it happens again, quote the request id to support.",
			"Une erreur est survenue de notre côté. Si elle se répète, transmettez le numéro de requête à l’assistance."),
	},
	"invalid_csrf_token": {
		T("This form has expired", "Ce formulaire a expiré"),
		T("Nothing was changed. Open the page again and send the form once more. Cookies must be allowed.",
			"Rien n’a été modifié. Rouvrez la page et envoyez de nouveau le formulaire. Les cookies doivent être autorisés."),
	},
	"partner_not_found": {
		T("Unknown partner", "Partenaire inconnu"),
		T("We do not know the partner that sent you here. Please ask them for a new link.",
			"Nous ne connaissons pas le partenaire qui vous a envoyé ici. Demandez-lui un nouveau lien."),
	},
	"missing_connect_secret": {
		T("The partner is not ready yet", "Le partenaire n’est pas encore prêt"),
		T("This partner is not set up for connecting accounts yet. Please ask them to finish their setup with us.",
			"Ce partenaire n’est pas encore configuré pour relier des comptes. Demandez-lui de terminer sa configuration avec nous."),
	},
	"invalid_signature": {
		T("This link does not work", "Ce lien ne fonctionne pas"),
		T("This link was changed or is incomplete. Please go back to your partner and open it again.",
			"Ce lien a été modifié ou est incomplet. Retournez chez votre partenaire et ouvrez-le de nouveau."),
	},
	"expired": {
		T("This link has expired", "Ce lien a expiré"),
		T("This link is too old to be used. Please go back to your partner and open a new one.",
			"Ce lien est trop ancien pour être utilisé. Retournez chez votre partenaire et ouvrez-en un nouveau."),
	},
	"account_already_linked": {
		T("Already linked to another partner", "Déjà relié à un autre partenaire"),
		T("Your account is already linked to another partner. Unlink it on your dashboard first, then open this link again.",
			"Votre compte est déjà relié à un autre partenaire. Déliez-le d’abord dans votre espace, puis rouvrez ce lien."),
	},
	"external_id_conflict": {
		T("Already connected differently", "Déjà relié autrement"),
		T(
			"This property is already connected through another account, or your account under another number. Please contact your partner.",
			"Cet établissement est déjà relié par un autre compte, ou votre compte sous un autre numéro. Contactez votre partenaire."),
	},
	"email_taken": {
		T("You already have an account", "Vous avez déjà un compte"),
		T("An account with this e-mail exists already. Log in instead.",
			"Un compte existe déjà avec cet e-mail. Connectez-vous plutôt."),
	},
	"bad_credentials": {
		T("That did not work", "Connexion impossible"),
		T("E-mail or password is wrong.", "L’e-mail ou le mot de passe est incorrect."),
	},
	"invalid_email": {
		T("Check your e-mail", "Vérifiez votre e-mail"),
		T("Enter a valid e-mail address.", "Saisissez une adresse e-mail valide."),
	},
	"invalid_password": {
		T("Choose another password", "Choisissez un autre mot de passe"),
		T("The password needs at least 10 characters (200 at most).",
			"Le mot de passe doit compter au moins 10 caractères (200 au plus)."),
	},
	"invalid_company_name": {
		T("Check the company name", "Vérifiez le nom de l’entreprise"),
		T("Enter the name of your company in one line, without a web address (120 characters at most).",
			"Saisissez le nom de votre entreprise sur une ligne, sans adresse web (120 caractères au plus)."),
	},
}

// ErrorTextOf returns the texts for an error code; for an unknown one those of internal_error.
func ErrorTextOf(code string) ErrorText {
	if f, ok := failures[code]; ok {
		return f
	}
	return failures["internal_error"]
}

func HasErrorText(code string) bool { _, ok := failures[code]; return ok }

// RegisterErrorText registers an error code's texts during package initialisation; it panics if there are some.
func RegisterErrorText(code string, title, message LocalizedText) {
	if HasErrorText(code) {
		panic("ui: error code explained twice: " + code)
	}
	failures[code] = ErrorText{Title: title, Message: message}
}
