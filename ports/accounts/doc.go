// Package accounts declares what the use cases of rental operators ask for: operators with their accounts, sessions,
// passwords, second factors, and the links of accounts to partners.
package accounts
