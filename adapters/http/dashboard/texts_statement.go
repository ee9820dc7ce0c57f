package dashboard

import "partnerdeposits/adapters/http/ui"

var (
	textMoney       = ui.T("Money", "Argent")
	textBadMonth    = ui.T("Enter a month, such as 2026-11.", "Saisissez un mois, par exemple 2026-11.")
	textShowMonth   = ui.T("Show", "Afficher")
	textOtherMonths = ui.T("Other months", "Autres mois")

	textStatementDue      = ui.T("Due to you", "Ce qui vous revient")
	textStatementPaid     = ui.T("Paid by tenants", "Payé par les locataires")
	textStatementRefunded = ui.T("Refunded to tenants", "Remboursé aux locataires")
	textStatementDisputed = ui.T("Disputed by tenants", "Contesté par les locataires")
	textDueIs             = ui.T("Paid less refunded", "Payé moins remboursé")
	textNotSubtracted     = ui.T("Not subtracted", "Non déduit")

	textStatementClaims = ui.T("Claims of this month", "Réclamations du mois")
	textClaimedOn       = ui.T("Claimed on", "Réclamé le")
	textChargedOn       = ui.T("Charged on", "Débité le")
	textRefunded        = ui.T("Refunded", "Remboursé")
	textRefundedOn      = ui.T("on %s", "le %s")
	textRefundedInAll   = ui.T("%s refunded in all", "%s remboursés au total")
	textDisputed        = ui.T("Dispute", "Contestation")
	textWholeMonth      = ui.T("Whole month", "Mois entier")
	textNoMoney         = ui.T("No claim was paid, refunded or disputed in this month.",
		"Aucune réclamation n’a été payée, remboursée ou contestée ce mois-ci.")
	textFurtherClaims = ui.T("Further claims", "Réclamations suivantes")

	textDisputeOpen = ui.T("Disputed", "Contestée")
	textDisputeWon  = ui.T("Dispute won", "Contestation gagnée")
	textDisputeLost = ui.T("Dispute lost", "Contestation perdue")

	textUnpaid    = ui.T("Claimed, not paid yet", "Réclamé, pas encore payé")
	textUnpaidSum = ui.T("Claims: %s, %s in all. They count in the month in which the tenant pays.",
		"Réclamations : %s, soit %s au total. Elles comptent dans le mois où le locataire paie.")
	textAllClaims = ui.T("Show every claim", "Afficher toutes les réclamations")

	textStatementMeans = ui.T(
		"Paid is what tenants paid in this month of the amounts that you claimed. Refunded is what went back to "+
			"tenants in this month, also of claims that were paid earlier. Due to you is the first less the "+
			"second. Disputed counts in the month in which the dispute began, and is not subtracted. The fees that "+
			"tenants pay are not part of it. Months and days are in UTC, as in our books.",
		"Payé : ce que les locataires ont payé ce mois-ci sur les montants que vous avez réclamés. Remboursé : ce "+
			"qui a été rendu aux locataires ce mois-ci, y compris pour des réclamations payées plus tôt. Ce qui "+
			"vous revient : le premier montant moins le second. Contesté : compté dans le mois où la contestation "+
			"a commencé, sans être déduit. Les frais payés par les locataires n’en font pas partie. Les mois et "+
			"les jours sont en UTC, comme dans nos livres.")
	textPayouts = ui.T(
		"What we paid out to your bank account is not shown here: that is done outside of this service. These are "+
			"the sums that the books say are due.",
		"Ce que nous avons versé sur votre compte bancaire n’apparaît pas ici : cela se fait en dehors de ce "+
			"service. Ces montants sont ceux qui vous reviennent d’après nos livres.")
)

var (
	textFeeRule = ui.T("The tenant pays a fee of %s of the deposit, %s at least.",
		"Le locataire paie des frais de %s de la caution, %s au minimum.")
	textFeeExact = ui.T("For a deposit of %s the tenant pays a fee of %s.",
		"Pour une caution de %s, le locataire paie des frais de %s.")
	textTenantPays = ui.T("The tenant pays", "Le locataire paie")
	textFeeOnce    = ui.T("A fee, once, to secure the deposit.", "Des frais, une seule fois, pour garantir la caution.")
)
