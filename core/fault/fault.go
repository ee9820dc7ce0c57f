// Package fault holds the errors that a caller may see.
//
// A rule that can be broken declares a sentinel next to the rule:
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

// Kind classifies a failure. Each kind maps to a single HTTP status.
type Kind int

// The kinds, each with its HTTP status.
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

// Kinds lists every kind.
var Kinds = []Kind{Internal, Invalid, Unauthenticated, Forbidden, NotFound, MethodNotAllowed, Conflict, Gone, TooLarge,
	Unsupported, Unprocessable, RateLimited, Unavailable}

// Error is a failure that a caller may see. All fields but the cause are safe to send.
type Error struct {
	Kind       Kind
	Code       string
	Message    string
	RetryAfter time.Duration // sent as Retry-After; 0: no such header
	cause      error
}

// New declares a sentinel. code is stable and snake_case; message is a full sentence or a clause after a field name.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Error joins code, message and cause. The text is for logs only.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause, which no caller may see.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault with the same code. A copy with another message therefore matches its sentinel.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Because returns a copy with a cause, for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithMessage returns a copy with another message.
func (e *Error) WithMessage(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// WithField returns a copy whose message begins with the name of a field, such as `amount: …` (api.md §1).
func (e *Error) WithField(field, format string, args ...any) *Error {
	return e.WithMessage("%s: %s", field, fmt.Sprintf(format, args...))
}

// WithRetryAfter returns a copy that asks the caller to wait for d before the next try.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Of finds the fault in err. An error without a fault becomes ErrInternal, with err as the cause.
func Of(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return ErrInternal.Because(err)
}

// KindOf is short for Of(err).Kind.
func KindOf(err error) Kind { return Of(err).Kind }
