//go:build failpoints

// Package trigger kills its process at a failpoint. Importing the package is enough. It reads orders from standard
// input, a line each:
//
//	relay.committed 3    SIGKILL when relay.committed is reached for the third time from now
//	off                  forget the last order
package trigger

import (
	"bufio"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"partnerdeposits/ports/failpoint"
)

// order is the failpoint at which the process dies, after left more hits.
type order struct {
	point string
	left  atomic.Int64
}

var standing atomic.Pointer[order]

func init() {
	failpoint.Observe(hit)
	go listen()
}

func listen() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var o order
		var count int64
		if n, _ := fmt.Sscan(lines.Text(), &o.point, &count); n < 2 { //nolint:errcheck // any other line means "off"
			standing.Store(nil)
			continue
		}
		o.left.Store(count)
		standing.Store(&o)
	}
}

func hit(point string) {
	o := standing.Load()
	if o == nil || o.point != point || o.left.Add(-1) != 0 {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) // no deferred call and no flush runs after SIGKILL
	select {}
}
