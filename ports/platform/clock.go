package platform

import (
	"time"

	"partnerdeposits/core/id"
)

// Clock returns the present time.
type Clock interface {
	// Now returns the time in UTC, truncated to microseconds, the resolution of the database.
	Now() time.Time
}

// Entropy makes ids, which must not repeat, and random bytes, which must not be guessable.
type Entropy interface {
	NewID() id.ID
	Bytes(n int) []byte
}
