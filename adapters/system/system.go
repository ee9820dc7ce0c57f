// Package system supplies the use cases with the machine's clock, random ids and random bytes.
package system

import (
	"crypto/rand"
	"time"

	"github.com/google/uuid"

	"partnerdeposits/core/id"
	"partnerdeposits/ports/platform/failpoint"
)

type Clock struct{}

// Now returns the machine's time in UTC, truncated to microseconds, the precision of the database.
func (Clock) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Entropy makes ids and secrets from the operating system's source of randomness. The zero value is ready to use.
type Entropy struct{}

// NewID returns a new UUID v7. Each id of a process is greater than its earlier ones.
func (Entropy) NewID() id.ID {
	// No error is possible here: since Go 1.24 the program ends if the operating system has no randomness.
	return failpoint.SkewedID(id.ID(uuid.Must(uuid.NewV7())))
}

func (Entropy) Bytes(n int) []byte {
	b := make([]byte, n)
	// The error is ignored: since Go 1.24 the program ends if the operating system has no randomness.
	_, _ = rand.Read(b)
	return b
}
