package dashboard

import "partnerdeposits/adapters/http/ui"

var (
	textNew     = ui.T("New deposit", "Nouvelle caution")
	textNewLead = ui.T(
		"The tenant gets a link, enters a card and pays the fee. Then your rental is covered; the deposit itself is not blocked.",
		"Le locataire reçoit un lien, saisit sa carte et paie les frais. Votre location est alors couverte ; la caution elle-même n’est pas bloquée.")
	textAmountEuros      = ui.T("Amount in euros", "Montant en euros")
	textAmountLimits     = ui.T("From %s to %s.", "De %s à %s.")
	textStartsOn         = ui.T("First day of the stay", "Premier jour du séjour")
	textEndsOn           = ui.T("Last day of the stay", "Dernier jour du séjour")
	textContractOptional = ui.T("Booking or contract (optional)", "Réservation ou contrat (facultatif)")
	textTenantOptional   = ui.T("Tenant (optional)", "Locataire (facultatif)")
	textFirstName        = ui.T("First name", "Prénom")
	textLastName         = ui.T("Last name", "Nom")
	textEmail            = ui.T("E-mail", "E-mail")
	textEmailHint        = ui.T(
		"We mail the link to this address at once. Without an address, you copy the link afterwards.",
		"Nous envoyons le lien à cette adresse aussitôt. Sans adresse, vous copierez le lien ensuite.")
	textCoverReach = ui.T("A stay that begins by today is covered until %s at best.",
		"Un séjour commencé au plus tard aujourd’hui est couvert au mieux jusqu’au %s.")
	textCoverEnds = ui.T(
		"Nothing was made yet: this stay is longer than a cover can be. At best it is covered until %s; damage after that day cannot be claimed.",
		"Rien n’a encore été créé : ce séjour est plus long qu’une couverture ne peut l’être. Au mieux, il est couvert jusqu’au %s ; après ce jour, aucun dégât ne peut être réclamé.")
	textStayOver = ui.T("The last day has passed: the stay is over, and nothing can be secured any more.",
		"Le dernier jour est passé : le séjour est terminé et il n’y a plus rien à garantir.")
	textCreateAll = ui.T("Make it all the same", "Créer malgré tout")
	textCreate    = ui.T("Make the deposit", "Créer la caution")
)
