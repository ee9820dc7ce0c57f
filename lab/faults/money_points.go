package main

// moneyPoints lists the failpoints around calls to the payment provider, in order. The last word is the place:
// .before the request, .sent after it was written, .answered before anything is stored, .committed and .made after
// the commit.
var moneyPoints = append(
	pointsOf(true,
		// Failpoints around the page on which the tenant pays the fee.
		"payment.fee.committed", "payment.page.committed", "payment.open.before", "payment.open.sent",
		"payment.open.answered", "payment.page.made",
		// Failpoints where the tenant returns from the payment page, and the service reads the payment.
		"payment.read.sent", "payment.read.answered", "payment.paid.committed",
		// Failpoint at the end of a checkout whose payment page can still be paid.
		"payment.closed.committed", "payment.expire.before", "payment.expire.sent", "payment.expire.answered",
		// Failpoints where a charge without the tenant is cancelled, because the tenant opens the payment page.
		"payment.cancel.before", "payment.cancel.sent", "payment.cancel.answered"),
	pointsOf(false,
		"payment.lookup.before", "payment.lookup.answered", "payment.read.answered",
		// Failpoints around a charge of the saved card.
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
