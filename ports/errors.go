package ports

import "errors"

// Errors that repositories return to use cases. No caller of the API sees these errors.
var (
	// ErrReferenceTaken: another deposit has the random reference of a new deposit.
	ErrReferenceTaken = errors.New("ports: deposit reference taken")
	// ErrStale: a guarded update found another version of the row.
	ErrStale = errors.New("ports: stale version")
	// ErrPaymentExists: the deposit has a payment of the same kind that is processing or succeeded.
	ErrPaymentExists = errors.New("ports: the deposit has a payment of this kind")
)
