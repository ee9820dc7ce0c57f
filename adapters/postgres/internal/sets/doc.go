// Package sets writes SQL statements about a set of rows, in which the values of each column are passed as one
// array. A unit of work passes a single row, a group commit the rows of all its changes.
//
// The statements are written by hand because their plans matter. A function of a module queues its statement on the
// transaction and returns; its callback runs at the flush of the transaction. The package also has the kinds of row
// locking of such statements, and the error for rows that are missing.
package sets

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// RowLocking is what a statement does with a row that another transaction has locked: wait for the row, or skip it.
type RowLocking string

const (
	// RowLockingWait until the transaction that has locked the row ends, or until lock_timeout has passed.
	RowLockingWait RowLocking = ""
	// Skip a row that another transaction has locked, as if it did not exist.
	RowLockingSkip RowLocking = " SKIP LOCKED"
)

const divisionByZero = "22012"

// TranslateMissingRows turns the error of a division by zero into the given error missing, and returns any other error
// unchanged. SQL statements here divide by zero on purpose, to fail when rows are missing.
func TranslateMissingRows(err, missing error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == divisionByZero {
		return missing
	}
	return err
}
