//go:build failpoints

// Package trigger kills or stops its process at a failpoint. Importing the package is enough. It reads orders from
// standard input, a line each:
//
//	relay.committed 3     SIGKILL when relay.committed is reached for the third time from now
//	relay.taken 1 1500    whatever reaches relay.taken next stands still there for 1,500 ms
//	skew 3000             the ids made from now on are those of a clock that is 3,000 ms ahead
//	off                   forget the last kill or stall
package trigger

import (
	"bufio"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"partnerdeposits/ports/platform/failpoint"
)

// order is the failpoint at which the process dies or, with a span, stands still, after left more hits.
type order struct {
	point string
	left  atomic.Int64
	span  time.Duration
}

var standing atomic.Pointer[order]

func init() {
	failpoint.Observe(hit)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			obey(lines.Text())
		}
	}()
}

func obey(line string) {
	var o order
	var number, milliseconds int64
	switch n, _ := fmt.Sscan(line, &o.point, &number, &milliseconds); { //nolint:errcheck // the count tells
	case n < 2: // off
		standing.Store(nil)
	case o.point == "skew":
		failpoint.SkewIDs(time.Duration(number) * time.Millisecond)
	default:
		o.span = time.Duration(milliseconds) * time.Millisecond
		o.left.Store(number)
		standing.Store(&o)
	}
}

func hit(point string) {
	o := standing.Load()
	if o == nil || o.point != point || o.left.Add(-1) != 0 {
		return
	}
	if o.span > 0 {
		time.Sleep(o.span) //nolint:forbidigo // standing still is the order
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) // no deferred call and no flush runs after SIGKILL
	select {}
}
