// Package checkout leads the tenant from the checkout URL to a secured deposit (api.md §3).
//
//	form ──scoring──> provider's hosted page ──> return ──> deposit active
//	  │                                             └─────> deposit payment_issue, form again
//	  ├─ refused by scoring ──> deposit cancelled (declined)
//	  └─ given up ────────────> deposit cancelled (abandoned)
//
// app/payments takes the fee. Scoring and the provider are never called inside a transaction.
package checkout
