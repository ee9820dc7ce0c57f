package dashboard

import (
	"partnerdeposits/adapters/http/ui"
	depositports "partnerdeposits/ports/deposits"
)

var (
	textDeposits     = ui.T("Deposits", "Cautions")
	textNewButton    = ui.T("New deposit", "Nouvelle caution")
	textFilter       = ui.T("Filter", "Filtrer")
	textFilterTitle  = ui.T("Search and filter", "Rechercher et filtrer")
	textClear        = ui.T("Show all deposits", "Afficher toutes les cautions")
	textExport       = ui.T("Export as CSV", "Exporter en CSV")
	textSearch       = ui.T("Search", "Rechercher")
	textSearchFor    = ui.T("Tenant, reference, booking", "Locataire, référence, réservation")
	textMore         = ui.T("Period and status", "Période et état")
	textViews        = ui.T("Views", "Vues")
	textOrder        = ui.T("Order", "Ordre")
	textByCreated    = ui.T("Newest", "Récentes")
	textByStay       = ui.T("By stay", "Par séjour")
	textBooking      = ui.T("Booking", "Réservation")
	textTick         = ui.T("Select", "Sélectionner")
	textTickOf       = ui.T("Select %s", "Sélectionner %s")
	textNoTenantYet  = ui.T("No tenant yet", "Pas encore de locataire")
	textEndsOnDay    = ui.T("Ends %s", "Finit le %s")
	textClaimRow     = ui.T("Claim", "Réclamer")
	textClaimOf      = ui.T("Claim from %s", "Réclamer à %s")
	textTicked       = ui.T("For the selected deposits:", "Pour les cautions sélectionnées :")
	textSendLinks    = ui.T("Send the link again", "Renvoyer le lien")
	textRemindTicked = ui.T("Remind", "Relancer")
	textSearchHint   = ui.T("The beginning of names, of a reference, a booking or an e-mail address.",
		"Le début de noms, d’une référence, d’une réservation ou d’une adresse e-mail.")
	textStatus      = ui.T("Status", "État")
	textEveryStatus = ui.T("Every status", "Tous les états")
	textAwaiting    = ui.T("Awaiting the tenant or not finished", "En attente du locataire ou non terminée")
	textStayFrom    = ui.T("Stay from", "Séjour du")
	textStayTo      = ui.T("to", "au")
	textNoDeposits  = ui.T("There are no deposits yet. Those that you or your partner make will show here.",
		"Il n’y a pas encore de caution. Celles que vous ou votre partenaire créez apparaîtront ici.")
	textNoMatch     = ui.T("No deposit fits.", "Aucune caution ne correspond.")
	textNoMatchHere = ui.T("No deposit fits in this part of the list.",
		"Aucune caution ne correspond dans cette partie de la liste.")
	textPrevious   = ui.T("Previous", "Précédentes")
	textNext       = ui.T("Next", "Suivantes")
	textRange      = ui.T("%s–%s of %s", "%s–%s sur %s")
	textEndsBefore = ui.T("Only secured deposits whose cover ends before %s.",
		"Seulement les cautions garanties dont la couverture finit avant le %s.")
	textSearchOn    = ui.T("Search on", "Poursuivre la recherche")
	textNewest      = ui.T("Back to the first page", "Retour à la première page")
	textCheckFilter = ui.T("Please check these fields:", "Vérifiez ces champs :")

	textContract   = ui.T("Contract", "Contrat")
	textTenant     = ui.T("Tenant", "Locataire")
	textPeriod     = ui.T("Rental period", "Période de location")
	textCapturedOf = ui.T("%s of %s", "%s sur %s")
)

var viewNames = map[depositports.ListView]ui.LocalizedText{
	depositports.ViewAll:            ui.T("All", "Toutes"),
	depositports.ViewAwaitingTenant: ui.T("Awaiting", "En attente"),
	depositports.ViewRefused:        ui.T("Refused", "Refusées"),
	depositports.ViewSecured:        ui.T("Secured", "Garanties"),
	depositports.ViewCoverEnding:    ui.T("Ending soon", "Fin proche"),
	depositports.ViewClaimed:        ui.T("Claimed", "Réclamées"),
}
