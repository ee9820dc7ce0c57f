// Package fault is the one error vocabulary of the service.
//
// A rule that can be broken declares a sentinel beside itself:
//
//	var ErrNotLinked = fault.New(fault.Forbidden, "account_not_linked", "…")
//
// Code is what callers program against (api.md §1), Message is what they read,
// Kind decides the HTTP status in one table (adapters/http/problem), and the
// cause, if any, is for our log alone.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure an error is; each kind maps to one HTTP status.
type Kind int

// The kinds, with the status each one is answered with.
const (
	Internal         Kind = iota // 500
	Invalid                      // 400
	Unauthenticated              // 401
	Forbidden                    // 403
	NotFound                     // 404
	MethodNotAllowed             // 405
	Conflict                     // 409
	Gone                         // 410
	TooLarge                     // 413
	Unsupported                  // 415
	Unprocessable                // 422
	RateLimited                  // 429
	Unavailable                  // 503
)

// Error is a failure that may be shown: everything in it but the cause is safe to send to a caller.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	RetryAfter time.Duration // when > 0, the caller is told to come back then
	cause      error
}

// New declares a sentinel. code is stable and snake_case; message is a full sentence or a clause after a field name.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Error gives code, message and cause, for logs only.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause, which is never shown.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault with the same code, so that copies with another message still match their sentinel.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Because returns a copy that carries cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithMessage returns a copy with another message for the caller.
func (e *Error) WithMessage(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// WithField returns a copy whose message begins with the field it is about, as api.md §1 asks: `amount: …`.
func (e *Error) WithField(field, format string, args ...any) *Error {
	return e.WithMessage("%s: %s", field, fmt.Sprintf(format, args...))
}

// WithRetryAfter returns a copy that tells the caller when to come back.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Of finds the fault in err. Anything that carries none is an internal error and says nothing more.
func Of(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return ErrInternal.Because(err)
}

// KindOf is Of(err).Kind.
func KindOf(err error) Kind { return Of(err).Kind }
