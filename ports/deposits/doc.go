// Package deposits declares the interfaces that the use cases of deposits need: deposits with their history and
// timers, files, agreements, lists of the operator's pages, and the scoring of tenants.
package deposits
