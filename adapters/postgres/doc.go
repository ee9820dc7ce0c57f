// Package postgres stores the service's durable state. Store implements ports.UnitOfWork and the readers of ports.
//
//	use case ─▶ repositories ────────▶ pg.Tx ──────────────────────────────────────────▶ connection
//	            (a file for each port) (BEGIN travels with the first statement, COMMIT with the last)
//
// The packages below. imports_test.go checks that a package imports only packages of lower levels:
//
//	groupcommit    frequent changes of several requests, in one transaction (ports.Changes)
//	dispatchstore  the dispatcher's statements
//	internal/sets  statements that units of work and group commits share
//	internal/pg    transactions, translation of driver errors, encryption of secrets
//	internal/sqlc  statements that sqlc generates from queries/
//	internal/codec ids and times as Postgres types
//	migrations     the schema
//
// Packages pgtest and storetest serve tests.
package postgres
