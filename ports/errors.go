package ports

import "errors"

// Errors that repositories and providers return to use cases. No caller of the API sees these errors.
var (
	// ErrReferenceTaken: another deposit has the random reference of a new deposit.
	ErrReferenceTaken = errors.New("ports: deposit reference taken")
	// ErrStale: a guarded update found another version of the row.
	ErrStale = errors.New("ports: stale version")
	// ErrPaymentExists: the deposit has a payment of the same kind that is processing or succeeded.
	ErrPaymentExists = errors.New("ports: the deposit has a payment of this kind")
	// ErrProviderAway: the payment provider, and not this service, failed. The tenant's pages say so.
	ErrProviderAway = errors.New("ports: the payment provider failed")
	// ErrProviderAnswered: the payment provider has read a request and refused it. The call failed, and the provider works.
	ErrProviderAnswered = errors.New("ports: the payment provider refused a request")
	// ErrNotSetAside: no event with the id is set aside.
	ErrNotSetAside = errors.New("ports: the event is not set aside")
)
