// Package payments declares what the use cases of payments ask for: the payment provider, and what we keep of payments,
// collections, refunds, disputes and books.
package payments
