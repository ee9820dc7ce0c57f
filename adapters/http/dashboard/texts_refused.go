package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
)

// refusals maps the errors that refuse an act on a deposit to texts, whose argument is the deposit's status.
var refusals = map[string]ui.LocalizedText{
	deposits.ErrDepositChanged.Code: ui.T(
		"Nothing was done: the deposit has changed since you opened the page. It is now: %s.",
		"Rien n’a été fait : la caution a changé depuis l’ouverture de la page. Elle est désormais : %s."),
	deposit.ErrNotCapturable.Code: ui.T(
		"Nothing was claimed: an amount can be claimed of a secured deposit alone, before its cover ends. This one is: %s.",
		"Rien n’a été réclamé : seule une caution garantie le permet, avant la fin de sa couverture. Celle-ci est : %s."),
	deposit.ErrNotReleasable.Code: ui.T("Nothing was released: only a secured deposit can be released. This one is: %s.",
		"Rien n’a été libéré : seule une caution garantie peut l’être. Celle-ci est : %s."),
	deposit.ErrNotCancellable.Code: ui.T("Nothing was cancelled: the deposit can no longer be cancelled. It is: %s.",
		"Rien n’a été annulé : la caution ne peut plus l’être. Elle est : %s."),
	deposit.ErrLinkNotSendable.Code: ui.T("No e-mail was sent: the checkout of this deposit is over. It is: %s.",
		"Aucun e-mail n’a été envoyé : le paiement de cette caution n’est plus possible. Elle est : %s."),
	evidence.ErrFilesGone.Code: ui.T(
		"Nothing was done: the files waited for more than an hour, or belong to another page. Send them again. The deposit is: %s.",
		"Rien n’a été fait : les fichiers ont attendu plus d’une heure, ou appartiennent à une autre page. Envoyez-les de nouveau. La caution est : %s."),
	evidence.ErrDepositFileLimit.Code: ui.T("Nothing was done: the deposit would have more than 100 files. It is: %s.",
		"Rien n’a été fait : la caution aurait plus de 100 fichiers. Elle est : %s."),
	deposits.ErrTakesNoFiles.Code: ui.T(
		"No file was added: files can be added once a deposit is secured or claimed. This one is: %s.",
		"Aucun fichier n’a été ajouté : il faut que la caution soit garantie ou réclamée. Celle-ci est : %s."),
}
