//go:build failpoints

// Package trigger kills or suspends its process at a failpoint. Importing the package is enough. It reads orders
// from standard input, a line each:
//
//	relay.committed 3     SIGKILL when relay.committed is reached for the third time from now
//	relay.taken 1 1500    whatever reaches relay.taken next pauses there for 1,500 ms
//	skew 3000             the ids made from now on are those of a clock that is 3,000 ms ahead
//	off                   cancel the last kill or pause
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

// order makes this process die or, with a span, pause at a failpoint after left more hits.
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
	case n < 2: // A line of one word is the order "off", which cancels the last kill or pause.
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
	// SIGKILL runs no deferred call and no flush.
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}
