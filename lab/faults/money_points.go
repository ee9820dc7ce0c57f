package main

// moneyPoints lists the failpoints around the calls to the payment provider, in the order in which a deposit passes
// them. A point ending in .before lies before the request, .sent after the request was written, and .answered after its
// answer, before anything is recorded.
var moneyPoints = []point{
	{name: "payment.fee.committed", upTo: 2, http: true},    // our payment is stored
	{name: "payment.page.committed", upTo: 2, http: true},   // the provider's page is entered, no request sent
	{name: "payment.open.before", upTo: 3, http: true},      // before the page is asked for
	{name: "payment.open.sent", upTo: 2, http: true},        //
	{name: "payment.open.answered", upTo: 3, http: true},    //
	{name: "payment.page.made", upTo: 2, http: true},        // the provider's id of the page is stored
	{name: "payment.read.sent", upTo: 3, http: true},        // the tenant comes back, and the provider is asked
	{name: "payment.read.answered", upTo: 3, http: true},    //
	{name: "payment.paid.committed", upTo: 2, http: true},   // the adapter knows that the fee is paid
	{name: "payment.closed.committed", upTo: 1, http: true}, // an end is stored, and the page can still be paid
	{name: "payment.expire.before", upTo: 1, http: true},    //
	{name: "payment.expire.sent", upTo: 1, http: true},      //
	{name: "payment.expire.answered", upTo: 1, http: true},  //
	// a charge without the tenant is cancelled in favour of the tenant's page
	{name: "payment.cancel.before", upTo: 1, http: true},
	{name: "payment.cancel.sent", upTo: 1, http: true},     //
	{name: "payment.cancel.answered", upTo: 1, http: true}, //

	{name: "payment.lookup.before", upTo: 3},
	{name: "payment.lookup.answered", upTo: 3},
	{name: "payment.read.answered", upTo: 5},
	{name: "payment.attempt.committed", upTo: 3}, // the number of an attempt is stored, nothing sent
	{name: "payment.collect.before", upTo: 2},
	{name: "payment.intent.committed", upTo: 2}, // the intent is entered, no request sent
	{name: "payment.intent.sent", upTo: 2},
	{name: "payment.intent.answered", upTo: 2},
	{name: "payment.intent.made", upTo: 2}, // its id is stored, no charge asked for
	{name: "payment.confirm.before", upTo: 2},
	{name: "payment.confirm.sent", upTo: 2}, // the card may be charged
	{name: "payment.confirm.answered", upTo: 2},
	{name: "payment.refusal.committed", upTo: 1},
	{name: "payment.collect.answered", upTo: 2},
}
