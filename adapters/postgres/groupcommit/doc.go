// Package groupcommit applies changes that arrive at the same time in one transaction (ADR 0006). Under load a change costs
// a share of two round trips, one flush of the log and a handful of statements, where it would cost all of them alone.
//
//	Apply ─▶ batch of changes ─▶ 1. read:   one statement for each kind of row that the changes need, in one round trip
//	                             2. decide: each change turns its rows into writes; no I/O
//	                             3. write:  one statement for each kind of row that the changes write, and COMMIT, in one round trip
//
// A change has the isolation of a transaction of its own. Reads come before all writes, so no change sees a row that
// another change of its group wrote. A deposit and an idempotency key belong to one change of a group. No statement of
// a group waits for a row lock: a change whose row is locked elsewhere is applied alone afterwards, and waits there.
// A change that the database refuses undoes the group; each of its changes is then applied alone, so that only
// the refused change fails.
//
// A change applied alone is a group of one that waits for row locks.
package groupcommit
