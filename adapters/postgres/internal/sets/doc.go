// Package sets writes statements about a set of rows: the values of a column travel as one array. A unit of work passes
// a single row, a group commit the rows of all its changes.
//
// The statements are written by hand because their plans matter. A function of a module queues its statement on the
// transaction and returns; its callback runs at the flush of the transaction.
package sets

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Locking is the behaviour of a statement at a row that another transaction has locked.
type Locking string

// Kinds of locking.
const (
	Wait       Locking = ""             // for the end of the other transaction, up to lock_timeout
	SkipLocked Locking = " SKIP LOCKED" // treat the row as absent
)

const divisionByZero = "22012"

// UnlessAll replaces a division by zero by the error missing. A statement divides by zero to fail when rows are
// missing.
func UnlessAll(err, missing error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == divisionByZero {
		return missing
	}
	return err
}
