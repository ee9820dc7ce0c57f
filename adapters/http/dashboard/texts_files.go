package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/evidence"
)

func init() {
	ui.RegisterErrorText(evidence.ErrNotFound.Code, ui.T("No such file", "Fichier introuvable"),
		ui.T("The deposit has no file at this address. Please check the link.",
			"La caution n’a pas de fichier à cette adresse. Vérifiez le lien."))
	ui.RegisterErrorText(errFormTooLarge.Code, ui.T("Too many megabytes", "Trop de mégaoctets"),
		ui.T("The files have more than 25 MB together. Nothing was changed. Go back and send fewer files at a time.",
			"Les fichiers dépassent 25 Mo au total. Rien n’a été modifié. Revenez en arrière et envoyez moins de fichiers à la fois."))
	ui.RegisterErrorText(errBusy.Code, ui.T("A moment, please", "Un instant, s’il vous plaît"),
		ui.T("Many files are being sent at this moment. Nothing was changed. Go back and try again in a few seconds.",
			"Beaucoup de fichiers arrivent en ce moment. Rien n’a été modifié. Revenez en arrière et réessayez dans quelques secondes."))
	ui.RegisterErrorText(errSlow.Code, ui.T("The connection was too slow", "La connexion était trop lente"),
		ui.T(
			"The files did not arrive within two minutes, or arrived too slowly. Nothing was changed. Go back and send fewer or smaller files.",
			"Les fichiers ne sont pas arrivés en deux minutes, ou arrivaient trop lentement. Rien n’a été modifié. Revenez en arrière et envoyez des fichiers moins nombreux ou plus petits."))
	ui.RegisterErrorText(errSecond.Code, ui.T("Not all at once, please", "Pas tout à la fois, s’il vous plaît"),
		ui.T(
			"Your account is already sending 25 MB of files, or downloading five exports, in another window. Nothing was changed. Wait until that has ended, go back and try again.",
			"Votre compte envoie déjà 25 Mo de fichiers ou télécharge déjà cinq exports dans une autre fenêtre. Rien n’a été modifié. Attendez la fin, revenez en arrière et réessayez."))
}

var (
	textFiles      = ui.T("Files", "Fichiers")
	textPhotos     = ui.T("Photos or documents (optional)", "Photos ou documents (facultatif)")
	textFilesField = ui.T("Photos or documents", "Photos ou documents")
	textFilesHint  = ui.T(
		"Up to 10 files: JPEG, PNG, WebP or PDF, 10 MB each, 25 MB together. We remove place and time from photos. Files stay with the deposit’s history, without end.",
		"Jusqu’à 10 fichiers : JPEG, PNG, WebP ou PDF, 10 Mo chacun, 25 Mo au total. Nous retirons le lieu et l’heure des photos. Les fichiers restent avec l’historique de la caution, sans limite de durée.")
	textAddFiles     = ui.T("Add photos or documents", "Ajouter des photos ou des documents")
	textChooseFile   = ui.T("Choose at least one file.", "Choisissez au moins un fichier.")
	textTooManyFiles = ui.T("Choose %d files at most.", "Choisissez %d fichiers au plus.")
	textFilesAgain   = ui.T("Your files were not kept. Please choose them again.",
		"Vos fichiers n’ont pas été conservés. Choisissez-les de nouveau.")
	textSaysFiles = ui.T("These files become part of the deposit’s evidence:",
		"Ces fichiers s’ajoutent aux preuves de la caution :")
	textSaysKept = ui.T("They stay with the deposit’s history, without end. You cannot remove them.",
		"Ils restent avec l’historique de la caution, sans limite de durée. Vous ne pouvez pas les retirer.")
	textSaysWait = ui.T("They wait for an hour for your confirmation.",
		"Ils attendent votre confirmation pendant une heure.")
	textConfirmFiles = ui.T("Add these files?", "Ajouter ces fichiers ?")
	textButtonFiles  = ui.T("Add now", "Ajouter maintenant")
	textDoneFiles    = ui.T("The files are added.", "Les fichiers sont ajoutés.")
	textHappenedFile = ui.T("Files added: %s", "Fichiers ajoutés : %s")
)

// refusedFiles maps the reason codes of refused files to texts, whose argument is the file's name.
var refusedFiles = map[string]ui.LocalizedText{
	evidence.ErrUnsupportedType.Code: ui.T("%s is neither a JPEG, PNG or WebP picture nor a PDF.",
		"%s n’est ni une image JPEG, PNG ou WebP, ni un PDF."),
	evidence.ErrDamaged.Code: ui.T("%s cannot be read. It may be damaged or not complete.",
		"%s est illisible. Le fichier est peut-être abîmé ou incomplet."),
	evidence.ErrTooLarge.Code:      ui.T("%s has more than 10 MB.", "%s dépasse 10 Mo."),
	evidence.ErrTooManyPixels.Code: ui.T("%s has more than 40 megapixels.", "%s dépasse 40 mégapixels."),
	evidence.ErrTooCostlyToRead.Code: ui.T(
		"%s takes too much memory or time to read. Save it again as an ordinary JPEG (not progressive), or with fewer pixels, and send that.",
		"%s demande trop de mémoire ou de temps de lecture. Enregistrez l’image de nouveau en JPEG ordinaire (non progressif), ou avec moins de pixels, et envoyez-la."),
	evidence.ErrEmpty.Code: ui.T("%s is empty.", "%s est vide."),
}
