// Package sets holds the statements that a unit of work and a group commit share, each written once over a set of rows:
// a unit of work runs a statement for a set of one row, a group commit for the rows of all its changes.
//
// The statements are written by hand because their plans matter. A function queues its statement on the transaction and
// returns; the callbacks run when the transaction is flushed.
package sets

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Locking tells what a statement does with a row that another transaction has locked.
type Locking string

// Kinds of locking.
const (
	Wait       Locking = ""             // until the other transaction ends, or lock_timeout
	SkipLocked Locking = " SKIP LOCKED" // treat the row as absent
)

const divisionByZero = "22012"

// unlessAll replaces the error of a statement that divides by zero where it found fewer rows than it was given.
func unlessAll(err, missing error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == divisionByZero {
		return missing
	}
	return err
}

// each converts a slice.
func each[A, B any](in []A, convert func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = convert(a)
	}
	return out
}
