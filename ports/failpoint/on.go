//go:build failpoints

package failpoint

import "sync/atomic"

var observer atomic.Pointer[func(name string)]

// Observe has fn called for every Hit. fn may end the process.
func Observe(fn func(name string)) { observer.Store(&fn) }

// Hit tells the observer, if there is one, that the place called name was reached.
func Hit(name string) {
	if fn := observer.Load(); fn != nil {
		(*fn)(name)
	}
}
