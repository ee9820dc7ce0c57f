// Package system gives the use cases the machine's clock and randomness.
package system

import (
	"crypto/rand"
	"time"

	"github.com/google/uuid"

	"partnerdeposits/core/id"
	"partnerdeposits/ports/platform/failpoint"
)

// Clock is the wall clock. The zero value is ready to use.
type Clock struct{}

// Now gives the time in UTC, truncated to the database's microseconds.
func (Clock) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Entropy draws from the operating system. The zero value is ready to use.
type Entropy struct{}

// NewID gives a UUID v7. The ids of a process increase.
func (Entropy) NewID() id.ID {
	// The source of randomness never fails: since Go 1.24 the program ends instead.
	return failpoint.Skewed(id.ID(uuid.Must(uuid.NewV7())))
}

// Bytes gives n random bytes, suitable for secrets.
func (Entropy) Bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, as above
	return b
}
