//go:build failpoints

package failpoint

import (
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
)

var (
	observer atomic.Pointer[func(name string)]
	skew     atomic.Int64 // The milliseconds by which the clock of ids is ahead.
)

// Observe registers a function that every Hit of a failpoint calls. The function may end the process.
func Observe(fn func(name string)) { observer.Store(&fn) }

func Hit(name string) {
	if fn := observer.Load(); fn != nil {
		(*fn)(name)
	}
}

func SkewIDs(d time.Duration) { skew.Store(d.Milliseconds()) }

// SkewedID returns an id, a UUID v7, whose time is ahead by the skew that SkewIDs set.
func SkewedID(made id.ID) id.ID {
	const timeBytes, bits = 6, 8
	ms := made.Time().UnixMilli() + skew.Load()
	for i := range timeBytes {
		made[i] = byte(ms >> (bits * (timeBytes - 1 - i)))
	}
	return made
}
