// Package payments takes the tenant's fee, collects captured amounts and makes refunds (api.md §3).
//
//	payment row committed ──> provider's hosted page ──> tenant returns ──Lookup──> deposit active
//	                                                │                 └──────────> deposit payment_issue
//	                                                └─ tenant never returns ──> CheckDuePayments queries the provider
//
// The package keeps one invariant: while a fee payment is `processing`, its deposit stays in checkout. OpenFeePage
// inserts a payment under the deposit's lock, and only while the tenant can still secure the deposit. EndCheckout and
// app/deposits first make the provider close the page (SettleFee) and then check, under the lock, that no payment is
// in flight. No deposit is cancelled while the tenant pays, and no paid fee is lost: CheckDuePayments looks up rows
// left in `processing`. When the stay is over, CheckDuePayments closes the page; a fee that was paid later by the
// provider's clock is refunded.
//
// The provider is called outside transactions, and only the provider's confirmation counts as a payment.
package payments
