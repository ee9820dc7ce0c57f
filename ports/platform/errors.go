package platform

import (
	"errors"
)

// Errors of these ports. No caller of the API sees them.
var (
	// ErrReferenceTaken: another deposit has the random reference of a new deposit.
	ErrReferenceTaken = errors.New("ports: deposit reference taken")
	// ErrStale: a guarded update found another version of the row.
	ErrStale = errors.New("ports: stale version")
)
