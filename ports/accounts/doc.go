// Package accounts declares the interfaces that the use cases of rental operators need: operators with their
// accounts, sessions, passwords, second factors, and the links of accounts to partners.
package accounts
