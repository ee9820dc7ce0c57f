// Package payments declares the interfaces that the use cases of payments need: the payment provider, and the
// stores of payments, collections, refunds, disputes and books.
package payments
