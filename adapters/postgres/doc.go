// Package postgres stores the service's durable state in Postgres. Store is the unit of work, and holds the tables of
// every module.
//
//	use case ─▶ tables of a module ─▶ pg.Tx of the context ───────────────────────────────▶ connection
//	            (a type for each port) (BEGIN is sent with the first statement, COMMIT with the last)
//
// Each module has a package: accounts, deposits, partners, payments and webhooks. platform has the tables that all
// modules share. owners_test.go lists which module writes which table. There are further packages; structure_test.go
// checks that each imports only packages of lower levels:
//
//	groupcommit             frequent changes of several requests, in a single transaction (ports.Changes)
//	webhooks/dispatchstore  the dispatcher's statements
//	internal/lists          lists of any length
//	internal/sets           statements about a set of rows, whose values are passed as arrays
//	internal/pg             transactions, translation of driver errors, encryption of secrets
//	MODULE/internal/sqlc    statements of a module that sqlc generates from MODULE/queries
//	codec                   ids and times as Postgres types
//	migrations              the schema
//
// Most statements are written for sqlc, which checks them against the schema. A statement is written by hand where its
// text depends on the request (lists), where it takes a set of rows (internal/sets), where its plan matters and a test
// compares the plan, or where sqlc has no type for its result, such as a row of several tables.
package postgres
