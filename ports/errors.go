package ports

import "errors"

// Errors between repositories and use cases; none of them reaches a caller.
var (
	// ErrReferenceTaken: the random reference of a new deposit exists already.
	ErrReferenceTaken = errors.New("ports: deposit reference taken")
	// ErrStale: a guarded update found another version.
	ErrStale = errors.New("ports: stale version")
	// ErrPaymentUnderWay: a payment of that kind exists that is processing or succeeded.
	ErrPaymentUnderWay = errors.New("ports: payment under way")
)
