// Package deposits declares what the use cases of deposits ask for: deposits with their history and timers, files,
// agreements, lists of the desk, and the scoring of tenants.
package deposits
