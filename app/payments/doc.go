// Package payments takes the tenant's fee, collects captured amounts and makes refunds (api.md §3).
//
//	payment row committed ──> provider's hosted page ──> tenant returns ──Lookup──> deposit active
//	                                                │                 └──────────> deposit payment_issue
//	                                                └─ tenant never returns ──> CheckDuePayments queries the provider
//
// The package keeps one invariant: while a fee payment is `processing`, its deposit stays in checkout. No deposit
// is cancelled while the tenant pays, and no paid fee is lost: CheckDuePayments looks up rows left in `processing`.
//
// The provider is called outside transactions, and only the provider's confirmation counts as a payment.
package payments
