// Package fault holds the errors that a caller may see.
//
// A rule that can be broken declares a fault as a variable beside the rule:
//
//	var ErrNotLinked = fault.New(fault.Forbidden, "account_not_linked", "…")
//
// Programs read Code (api.md §1), people read Message. Kind decides the HTTP status, by the table in
// adapters/http/problem. The cause, if any, is written to the log only.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind classifies a fault, and decides its HTTP status.
type Kind int

// The kinds of fault. adapters/http/problem maps them to HTTP statuses.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	MethodNotAllowed
	Conflict
	Gone
	TooLarge
	UnsupportedMediaType
	Unprocessable
	RateLimited
	Unavailable
)

// Kinds lists every kind of fault.
var Kinds = []Kind{Internal, Invalid, Unauthenticated, Forbidden, NotFound, MethodNotAllowed, Conflict, Gone, TooLarge,
	UnsupportedMediaType, Unprocessable, RateLimited, Unavailable}

// Error is an error that a caller may see. All fields but the cause are safe to send.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	RetryAfter time.Duration // The wait that the response states in the header Retry-After; 0: no such header.
	cause      error
}

// New returns a fault, to be declared as a variable. code is stable snake_case; message is a sentence, or a clause
// after a field's name.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Error returns code, message and cause, for logs only.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault with the same code, whatever its message.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// WithCause returns a copy of the fault with a cause, which is only logged.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithMessage returns a copy of the fault with another message.
func (e *Error) WithMessage(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// WithField returns a copy of the fault whose message begins with a field's name, as in `amount: …` (api.md §1).
func (e *Error) WithField(field, format string, args ...any) *Error {
	return e.WithMessage("%s: %s", field, fmt.Sprintf(format, args...))
}

// WithRetryAfter returns a copy of the fault that tells the caller to wait for d before trying again.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// FromError returns the fault in an error's chain, or ErrInternal with err as the cause.
func FromError(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return ErrInternal.WithCause(err)
}

// KindOf returns the kind of the fault in an error's chain; Internal without a fault.
func KindOf(err error) Kind { return FromError(err).Kind }
