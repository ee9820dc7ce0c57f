package platform

import (
	"time"

	"partnerdeposits/core/id"
)

type Clock interface {
	// Now returns the time in UTC, truncated to microseconds, the resolution of the database.
	Now() time.Time
}

type Entropy interface {
	NewID() id.ID
	Bytes(n int) []byte
}
