//go:build failpoints

package failpoint

import (
	"sync/atomic"
	"time"

	"partnerdeposits/core/id"
)

var (
	observer atomic.Pointer[func(name string)]
	skew     atomic.Int64 // milliseconds
)

// Observe registers fn, which every Hit calls. fn may end the process.
func Observe(fn func(name string)) { observer.Store(&fn) }

// Hit calls the observer, if any, with the name of the failpoint.
func Hit(name string) {
	if fn := observer.Load(); fn != nil {
		(*fn)(name)
	}
}

// SkewIDs makes the later ids of this process those of a clock that is ahead by d.
func SkewIDs(d time.Duration) { skew.Store(d.Milliseconds()) }

// Skewed moves the time in a UUID v7 ahead by the skew.
func Skewed(made id.ID) id.ID {
	const timeBytes, bits = 6, 8
	ms := made.Time().UnixMilli() + skew.Load()
	for i := range timeBytes {
		made[i] = byte(ms >> (bits * (timeBytes - 1 - i)))
	}
	return made
}
