package main

// moneyPoints lists the failpoints around the calls to the payment provider, in the order in which a deposit
// passes them. The last word of a name is the place: .before is before the request, .sent after the request was
// written, .answered after its answer and before anything is stored; .committed and .made come after the commit of
// what the name describes.
var moneyPoints = append(
	pointsOf(true,
		// These failpoints lie around the page on which the tenant pays the fee.
		"payment.fee.committed", "payment.page.committed", "payment.open.before", "payment.open.sent",
		"payment.open.answered", "payment.page.made",
		// These failpoints lie where the tenant comes back from the payment page, and the service reads the payment
		// from the provider.
		"payment.read.sent", "payment.read.answered", "payment.paid.committed",
		// This failpoint lies where the end of a checkout is stored while its payment page can still be paid.
		"payment.closed.committed", "payment.expire.before", "payment.expire.sent", "payment.expire.answered",
		// These failpoints lie where a charge without the tenant is cancelled, because the tenant opens the payment
		// page instead.
		"payment.cancel.before", "payment.cancel.sent", "payment.cancel.answered"),
	pointsOf(false,
		"payment.lookup.before", "payment.lookup.answered", "payment.read.answered",
		// These failpoints lie around a charge of the saved card: around the attempt, the payment intent, the charge
		// and the refusal.
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
