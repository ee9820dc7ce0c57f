package platform

import (
	"time"

	"partnerdeposits/core/id"
)

// Clock returns the present time. A use case reads the clock once and passes the time on.
type Clock interface {
	// Now returns the time in UTC, truncated to microseconds, the resolution of the database.
	Now() time.Time
}

// Entropy makes ids, which must not repeat, and random bytes, which must not be guessable.
type Entropy interface {
	// NewID returns a new id, a UUID v7.
	NewID() id.ID
	// Bytes returns n random bytes that are fit for secrets.
	Bytes(n int) []byte
}
