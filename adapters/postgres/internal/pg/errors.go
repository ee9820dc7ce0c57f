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
	// The SQLSTATE after a migration changed the result type of a cached plan.
	changedResultType           = "0A000"
	SQLStateLockTimeout         = "55P03"
	queryCanceled               = "57014"
	idleInTransaction           = "25P03"
	SQLStateReadOnlyTransaction = "25006" // The SQLSTATE of a write on a Postgres server that has become a standby.
	SQLStateDiskFull            = "53100"
	SQLStatePermissionDenied    = "42501"
	SQLStateTooManyConnections  = "53300"
	// The SQLSTATE for a missing table, column or function, because `admin migrate up` has not run yet.
	undefinedTable     = "42P01"
	undefinedColumn    = "42703"
	undefinedFunction  = "42883"
	invalidText        = "22021"
	untranslatableText = "22P05"
	uniqueViolation    = "23505"
	checkViolation     = "23514"
)

// ErrRolledBack is the error of a COMMIT that rolled back because of an ignored earlier error.
var ErrRolledBack = errors.New("postgres: commit of a failed transaction")

// ErrResponseAlreadyStored is the error for an idempotency key with a stored response, which the key's advisory
// lock should prevent.
var ErrResponseAlreadyStored = errors.New("postgres: the idempotency key holds a response already")

// ErrClientErased is the error for a client that was erased after the transaction had read it.
var ErrClientErased = errors.New("postgres: a client was erased meanwhile")

// broken maps the name of a violated database constraint to the error that callers expect.
var broken = map[string]error{
	"partners_slug_key":       partner.ErrSlugTaken,
	"operators_email_key_key": connect.ErrEmailTaken,
	"deposits_reference_key":  ports.ErrReferenceTaken,
	"one_payment_under_way":   paymentports.ErrPaymentExists,
	"one_payment_succeeded":   paymentports.ErrPaymentExists,
}

// Translate turns driver errors into errors of core and ports. pgx.ErrNoRows and retryable errors stay
// unchanged.
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

// serverFailed reports whether an error is a fault of connection, resources or system, not of the statement.
func serverFailed(refused *pgconn.PgError) bool {
	switch refused.Code[:2] {
	case "08", "53", "57", "58":
		return true
	}
	return false
}

// NothingCommitted reports whether certainly nothing of a transaction was committed; false after a failure of
// connection or server.
func NothingCommitted(err error) bool {
	var refused *pgconn.PgError
	return errors.Is(err, ErrRolledBack) || errors.Is(err, ErrResponseAlreadyStored) || errors.Is(err, ErrClientErased) ||
		IsUnreadableRow(err) ||
		(errors.As(err, &refused) && !serverFailed(refused))
}

// IsUnreachable reports whether the server did not answer in time, the connection failed, or no connection was
// free.
func IsUnreachable(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, puddle.ErrClosedPool) || errors.As(err, &network) || errors.As(err, &connect) ||
		pgconn.Timeout(err) || pgconn.SafeToRetry(err)
}

// retryable reports whether the whole transaction may be run again.
func retryable(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return errors.Is(err, ErrResponseAlreadyStored) || errors.Is(err, ErrClientErased)
	}
	switch refused.Code {
	case serializationFailure, deadlockDetected, changedResultType:
		return true
	case checkViolation:
		// Another run finds the partition of the day, which was being made at that moment.
		return refused.ConstraintName == ""
	}
	return false
}
