package platform

import (
	"errors"
)

// Errors with which stores refuse a write. No caller of the API sees them.
var (
	// ErrReferenceTaken is returned for a new deposit whose random reference another deposit has.
	ErrReferenceTaken = errors.New("ports: deposit reference taken")
	// ErrStaleVersion is returned for an update of a row whose version has changed since the row was read.
	ErrStaleVersion = errors.New("ports: stale version")
)
