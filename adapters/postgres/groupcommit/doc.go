// Package groupcommit applies changes that arrive at the same time in a single transaction (ADR 0006). Under load the
// changes of a group share two round trips, the flush of the write-ahead log and a handful of statements.
//
//	Apply ─▶ batch of changes ─▶ 1. read:   a statement for each kind of row that the changes need, in a round trip
//	                             2. decide: each change turns its rows into writes; no I/O
//	                             3. write:  a statement for each kind of row that the changes write, and COMMIT, together
//
// A change has the isolation of a transaction of its own. Reads come before all writes, so no change sees a row that
// another change of its group wrote. Two changes of a group never share a deposit or an idempotency key. No statement
// of a group waits for a row lock: a change whose row another transaction has locked is deferred, applied alone after
// the group, and waits there. If the database refuses a statement, the group is rolled back and each change is applied
// alone, so that only the refused change fails.
//
// A change that is applied alone passes through the same code as a group with a single change.
package groupcommit
