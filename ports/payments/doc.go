// Package payments declares the interfaces that the use cases of payments need: the payment provider, and the
// stores of payments, collections, refunds, disputes and comparisons with the provider's records.
package payments
