//go:build failpoints

package failpoint

import "sync/atomic"

var observer atomic.Pointer[func(name string)]

// Observe registers fn, which every Hit calls. fn may end the process.
func Observe(fn func(name string)) { observer.Store(&fn) }

// Hit calls the observer, if any, with the name of the failpoint.
func Hit(name string) {
	if fn := observer.Load(); fn != nil {
		(*fn)(name)
	}
}
