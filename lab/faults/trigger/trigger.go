//go:build failpoints

// Package trigger kills or stops its process at a failpoint. Importing the package is enough. It reads orders from
// standard input, a line each:
//
//	relay.committed 3         SIGKILL when relay.committed is reached for the third time from now
//	stall relay.taken 1500    whatever reaches relay.taken next stands still there for 1,500 ms
//	skew 3000                 the ids made from now on are those of a clock that is 3,000 ms ahead
//	off                       forget the last kill and the last stall
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

// order is the failpoint at which the process dies, after left more hits.
type order struct {
	point string
	left  atomic.Int64
}

// stall is the failpoint at which the first to come stands still.
type stall struct {
	point string
	span  time.Duration
}

var (
	standing atomic.Pointer[order]
	stalling atomic.Pointer[stall]
)

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
	var s stall
	var number int64
	if n, _ := fmt.Sscanf(line, "skew %d", &number); n == 1 { //nolint:errcheck // the count tells
		failpoint.SkewIDs(time.Duration(number) * time.Millisecond)
		return
	}
	if n, _ := fmt.Sscanf(line, "stall %s %d", &s.point, &number); n == 2 { //nolint:errcheck // the count tells
		s.span = time.Duration(number) * time.Millisecond
		stalling.Store(&s)
		return
	}
	if n, _ := fmt.Sscan(line, &o.point, &number); n < 2 { //nolint:errcheck // any other line means "off"
		standing.Store(nil)
		stalling.Store(nil)
		return
	}
	o.left.Store(number)
	standing.Store(&o)
}

func hit(point string) {
	if s := stalling.Load(); s != nil && s.point == point && stalling.CompareAndSwap(s, nil) {
		time.Sleep(s.span) //nolint:forbidigo // standing still is the order
	}
	o := standing.Load()
	if o == nil || o.point != point || o.left.Add(-1) != 0 {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) // no deferred call and no flush runs after SIGKILL
	select {}
}
