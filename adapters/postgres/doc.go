// Package postgres stores the service's durable state. Store is the unit of work, and has the tables of every module.
//
//	use case ─▶ tables of a module ─▶ pg.Tx of the context ─────────────────────────────▶ connection
//	            (a type for each port) (BEGIN travels with the first statement, COMMIT with the last)
//
// A module has a package of its own: accounts, deposits, partners, payments and webhooks. platform has the tables that
// all share. owners_test.go lists which module writes which table. The other packages, of which structure_test.go checks
// that each imports only packages of lower levels:
//
//	groupcommit             frequent changes of several requests, in one transaction (ports.Changes)
//	webhooks/dispatchstore  the dispatcher's statements
//	internal/lists          lists of any length
//	internal/sets           statements about a set of rows, whose values travel as arrays
//	internal/pg             transactions, translation of driver errors, encryption of secrets
//	MODULE/internal/sqlc    statements of a module that sqlc generates from MODULE/queries
//	codec                   ids and times as Postgres types
//	migrations              the schema
//
// A statement is written for sqlc, which checks it against the schema. It is written by hand where its text depends on
// the question (lists), where it takes a set of rows (internal/sets), where its plan matters and a test compares the
// plan, or where sqlc has no name for what it gives, such as a row of several tables.
package postgres
