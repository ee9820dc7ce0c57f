package dashboard

import "partnerdeposits/adapters/http/ui"

var (
	textPartner       = ui.T("Your partner", "Votre partenaire")
	textPartnerName   = ui.T("Partner", "Partenaire")
	textLinkedSince   = ui.T("Linked since", "Relié depuis")
	textNumber        = ui.T("Your number there", "Votre numéro chez lui")
	textRights        = ui.T("%s can:", "%s peut :")
	textRightsNever   = ui.T("It never sees your password.", "Il ne voit jamais votre mot de passe.")
	textUnlink        = ui.T("Unlink %s", "Délier %s")
	textConfirmUnlink = ui.T("Unlink %s?", "Délier %s ?")
	textUnlinkHint    = ui.T(
		"%s will no longer be able to create deposits for you or to read new ones. Deposits that exist stay as they are.",
		"%s ne pourra plus créer de cautions pour vous ni consulter les nouvelles. Les cautions existantes restent inchangées.")
	textUnlinkAgain = ui.T("We tell both of you by e-mail. To link again, you need a new link from your partner.",
		"Nous vous informons tous les deux par e-mail. Pour vous relier de nouveau, il vous faudra un nouveau lien de votre partenaire.")
	textUnlinkNow = ui.T("Unlink now", "Délier maintenant")
	textUnlinked  = ui.T("The link has ended. We have sent you an e-mail about it.",
		"Le lien a pris fin. Nous vous avons envoyé un e-mail à ce sujet.")
	textNoPartner = ui.T("Your account is not linked to a partner. To link it, open the link that your partner gives you.",
		"Votre compte n’est relié à aucun partenaire. Pour le relier, ouvrez le lien que votre partenaire vous donne.")
)
