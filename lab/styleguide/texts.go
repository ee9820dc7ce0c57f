package styleguide

import "partnerdeposits/adapters/http/ui"

var (
	textGuide     = ui.T("Style guide", "Guide de style")
	textGuideLead = ui.T("Every component in every state, in both colour schemes.",
		"Chaque composant dans chaque état, dans les deux jeux de couleurs.")
	textLight     = ui.T("Light", "Clair")
	textDark      = ui.T("Dark", "Sombre")
	textMails     = ui.T("Every mail of the service", "Tous les e-mails du service")
	textMailsLead = ui.T("With invented values. Each mail exists as HTML and as text.",
		"Avec des valeurs fictives. Chaque e-mail existe en HTML et en texte.")
	textMailsIn = ui.T("Language of the mails", "Langue des e-mails")
)

// localeNames are the languages' names on the page of all mails.
var localeNames = map[string]ui.LocalizedText{
	"en": ui.T("English", "Anglais"),
	"fr": ui.T("French", "Français"),
	"":   ui.T("Both, for a reader whose language is not known", "Les deux, pour un lecteur de langue inconnue"),
}
