package main

// moneyPoints lists the failpoints around the calls to the payment provider, in the order in which a deposit passes
// them. A point ending in .before lies before the request, .sent after the request was written, and .answered after its
// answer, before anything is recorded; .committed and .made are behind the commit of what the name says.
var moneyPoints = append(
	pointsOf(true,
		// the tenant's page of the fee
		"payment.fee.committed", "payment.page.committed", "payment.open.before", "payment.open.sent",
		"payment.open.answered", "payment.page.made",
		// the tenant comes back, and the provider is asked
		"payment.read.sent", "payment.read.answered", "payment.paid.committed",
		// an end is stored, and the page can still be paid
		"payment.closed.committed", "payment.expire.before", "payment.expire.sent", "payment.expire.answered",
		// a charge without the tenant is cancelled in favour of the tenant's page
		"payment.cancel.before", "payment.cancel.sent", "payment.cancel.answered"),
	pointsOf(false,
		"payment.lookup.before", "payment.lookup.answered", "payment.read.answered",
		// the saved card is charged: its attempt, the intent, the charge, the refusal
		"payment.attempt.committed", "payment.collect.before", "payment.intent.committed", "payment.intent.sent",
		"payment.intent.answered", "payment.intent.made", "payment.confirm.before", "payment.confirm.sent",
		"payment.confirm.answered", "payment.refusal.committed", "payment.collect.answered")...,
)

func pointsOf(http bool, names ...string) (all []point) {
	for _, name := range names {
		all = append(all, point{name: name, upTo: 1, http: http})
	}
	return all
}
