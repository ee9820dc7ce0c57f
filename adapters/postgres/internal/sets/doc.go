// Package sets writes SQL statements about a set of rows, in which each column's values are passed as one
// array: the single row of a unit of work, or the rows of a whole group commit. They are written by hand
// because their plans matter.
package sets

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// RowLocking is what a statement does with a row that another transaction has locked.
type RowLocking string

const (
	// RowLockingWait waits until the lock of a row is released or lock_timeout has passed.
	RowLockingWait RowLocking = ""
	// Skip a row that another transaction has locked, as if it did not exist.
	RowLockingSkip RowLocking = " SKIP LOCKED"
)

const divisionByZero = "22012"

// TranslateMissingRows replaces a division by zero, by which statements fail for missing rows, by the error
// missing.
func TranslateMissingRows(err, missing error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == divisionByZero {
		return missing
	}
	return err
}
