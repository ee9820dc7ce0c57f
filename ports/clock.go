package ports

import (
	"time"

	"partnerdeposits/core/id"
)

// Clock is read once per use case; the time is passed on from there.
type Clock interface {
	// Now gives the time in UTC, cut to microseconds, as the database keeps it.
	Now() time.Time
}

// Entropy makes what must not be guessed or must not repeat.
type Entropy interface {
	// NewID gives a UUID v7.
	NewID() id.ID
	// Bytes gives n bytes fit for secrets.
	Bytes(n int) []byte
}
