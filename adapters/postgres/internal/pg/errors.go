package pg

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// SQLSTATE codes of Postgres that are handled specially.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	// The SQLSTATE after a migration changed the result type of a cached plan. The next try prepares the statement
	// again.
	changedResultType           = "0A000"
	SQLStateLockTimeout         = "55P03"
	queryCanceled               = "57014"
	idleInTransaction           = "25P03"
	SQLStateReadOnlyTransaction = "25006" // The SQLSTATE of a write on a Postgres server that has become a standby.
	SQLStateDiskFull            = "53100"
	SQLStatePermissionDenied    = "42501"
	SQLStateTooManyConnections  = "53300"
	// Postgres reports this code, or one of the next two, where a table, column or function is missing because `admin
	// migrate up` has not run yet.
	undefinedTable     = "42P01"
	undefinedColumn    = "42703"
	undefinedFunction  = "42883"
	invalidText        = "22021"
	untranslatableText = "22P05"
	uniqueViolation    = "23505"
	checkViolation     = "23514"
)

// ErrRolledBack is the error of a COMMIT that rolled back, because an earlier statement had failed and the caller
// ignored its error.
var ErrRolledBack = errors.New("postgres: commit of a failed transaction")

// ErrResponseAlreadyStored is the error for a response to store whose idempotency key has a stored response already.
// The advisory lock of the key prevents that; should two transactions ever pass the lock, the second fails and finds
// the response in its next run.
var ErrResponseAlreadyStored = errors.New("postgres: the idempotency key holds a response already")

// ErrClientErased is the error for a client that was erased after the transaction had read it. The next run of the
// transaction finds no client.
var ErrClientErased = errors.New("postgres: a client was erased meanwhile")

// broken maps the name of a violated database constraint to the error that callers expect.
var broken = map[string]error{
	"partners_slug_key":       partner.ErrSlugTaken,
	"operators_email_key_key": connect.ErrEmailTaken,
	"deposits_reference_key":  ports.ErrReferenceTaken,
	"one_payment_under_way":   paymentports.ErrPaymentExists,
	"one_payment_succeeded":   paymentports.ErrPaymentExists,
}

// Translate turns errors of the Postgres driver into errors of core and ports. DB and Tx call Translate wherever
// they read rows and results, so no caller receives the error of a connection. pgx.ErrNoRows and errors after which
// Retry tries again are returned unchanged.
func Translate(err error) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return translateRefusal(refused, err)
	}
	if IsUnreachable(err) {
		return fault.ErrUnavailable.WithCause(err)
	}
	return err
}

func translateRefusal(refused *pgconn.PgError, err error) error {
	switch refused.Code {
	case SQLStateLockTimeout, queryCanceled, idleInTransaction, SQLStateReadOnlyTransaction, undefinedTable,
		undefinedColumn,
		undefinedFunction:
		return fault.ErrUnavailable.WithCause(err)
	case invalidText, untranslatableText:
		return fault.ErrInvalidField.WithMessage("A text holds characters that cannot be stored.").WithCause(err)
	case uniqueViolation:
		if meaning, ok := broken[refused.ConstraintName]; ok {
			return meaning
		}
	}
	if serverFailed(refused) {
		return fault.ErrUnavailable.WithCause(err)
	}
	return err
}

// SQLStateOf returns the SQLSTATE of an error; "" for an error that the server did not send.
func SQLStateOf(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// serverFailed reports whether an error is a fault of the connection, of resources, of an administrator or of the
// system (true), and not of the statement (false).
func serverFailed(refused *pgconn.PgError) bool {
	switch refused.Code[:2] {
	case "08", "53", "57", "58":
		return true
	}
	return false
}

// NothingCommitted reports whether nothing of a transaction was committed, because the server refused a statement or a
// row could not be read. It is false for a failure of the connection or of the server, after which that is unknown.
func NothingCommitted(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, ErrRolledBack) || errors.Is(err, ErrResponseAlreadyStored) || errors.Is(err, ErrClientErased) ||
		IsUnreadableRow(err) ||
		(errors.As(err, &refused) && !serverFailed(refused))
}

// IsUnreachable reports whether the server did not answer in time, the connection failed, or the pool had no free
// connection; otherwise false.
func IsUnreachable(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, puddle.ErrClosedPool) || errors.As(err, &network) || errors.As(err, &connect) ||
		pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}

// retryable reports whether the whole transaction may be run again after an error; false if another run would fail
// too.
func retryable(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return errors.Is(err, ErrResponseAlreadyStored) || errors.Is(err, ErrClientErased)
	}
	switch refused.Code {
	case serializationFailure, deadlockDetected, changedResultType:
		return true
	case checkViolation:
		// The row belonged to a partition of a day that was being made at that moment; another run of the transaction
		// finds the partition.
		return refused.ConstraintName == ""
	}
	return false
}
