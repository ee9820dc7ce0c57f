package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
)

var (
	textTitle   = ui.T("Your dashboard", "Votre espace")
	textEmail   = ui.T("E-mail", "E-mail")
	textAccount = ui.T("Account number", "Numéro de compte")
	textMaximum = ui.T("Maximum deposit", "Plafond de caution")

	textPartner    = ui.T("Your partner", "Votre partenaire")
	textLinkedWith = ui.T("Linked to %s since %s.", "Relié à %s depuis le %s.")
	textNumber     = ui.T("Your number there:", "Votre numéro chez lui :")
	textUnlink     = ui.T("Unlink %s", "Délier %s")
	textUnlinkHint = ui.T("%s will no longer be able to create deposits for you or to read new ones. Deposits that exist stay as they are. To link again, you need a new link from your partner.", "%s ne pourra plus créer de cautions pour vous ni consulter les nouvelles. Les cautions existantes restent inchangées. Pour vous relier de nouveau, il vous faudra un nouveau lien de votre partenaire.")
	textUnlinkNow  = ui.T("Unlink now", "Délier maintenant")
	textUnlinked   = ui.T("The link has ended. We have sent you an e-mail about it.", "Le lien a pris fin. Nous vous avons envoyé un e-mail à ce sujet.")
	textNoPartner  = ui.T("Your account is not linked to a partner. To link it, open the link that your partner gives you.", "Votre compte n’est relié à aucun partenaire. Pour le relier, ouvrez le lien que votre partenaire vous donne.")

	textDeposits   = ui.T("Deposits", "Cautions")
	textNoDeposits = ui.T("There are no deposits yet. Those that your partner creates for you will show here.", "Il n’y a pas encore de caution. Celles que votre partenaire crée pour vous apparaîtront ici.")
	textContract   = ui.T("Contract", "Contrat")
	textTenant     = ui.T("Tenant", "Locataire")
	textPeriod     = ui.T("Rental period", "Période de location")
	textCapturedOf = ui.T("%s of %s", "%s sur %s")
	textOlder      = ui.T("Older deposits", "Cautions plus anciennes")
	textNewest     = ui.T("Newest deposits", "Cautions les plus récentes")
)

var statuses = map[deposit.Status]ui.Text{
	deposit.Pending:      ui.T("Awaiting the tenant", "En attente du locataire"),
	deposit.Incomplete:   ui.T("Not finished", "Non terminée"),
	deposit.Active:       ui.T("Secured", "Garantie"),
	deposit.Cancelled:    ui.T("Cancelled", "Annulée"),
	deposit.PaymentIssue: ui.T("Payment issue", "Problème de paiement"),
	deposit.Closed:       ui.T("Ended", "Terminée"),
	deposit.Captured:     ui.T("Collected", "Encaissée"),
}

// tones are the CSS classes that colour a status. The text alone tells the status, too.
var tones = map[deposit.Status]string{
	deposit.Active:       "good",
	deposit.PaymentIssue: "bad",
}
