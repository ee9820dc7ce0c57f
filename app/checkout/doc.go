// Package checkout leads the tenant from the checkout URL to a secured deposit (api.md §3).
//
//	form ──scoring──> payment row committed ──> provider's hosted page ──> return ──Lookup──> active
//	  │                                                                         └──────────> payment_issue, form again
//	  ├─ refused ──> cancelled (declined)
//	  └─ give up ──> cancelled (abandoned)
//
// One invariant carries everything: while a fee payment is `processing`, its deposit stays in checkout. A payment is
// begun under the deposit's lock and only where the tenant can still secure it; whatever ends a checkout first has the
// provider close the page (SettleFee) and then, under the lock, looks that no payment is under way. So no deposit is
// cancelled that is being paid, and nothing paid is lost: rows left in `processing` are asked about by ReconcilePayments.
//
// Scoring and the provider are outside the service. They are never called inside a transaction, and only what the
// provider confirms counts.
package checkout
