// Command faults disturbs the running service and counts lost and repeated deliveries (docs/guides/measuring.md).
// Exit code 1: a violation.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	seed  uint64
	only  string
	logs  string
	nodes int
	logf  func(format string, args ...any)

	events, faults, hits, rate int
	// Longest time after a fault until everything is delivered.
	deadline time.Duration
	// relaxed: only the deadline limits a recovery, as on a busy machine, not the promised times.
	short, relaxed, race, money bool
}

// timeout is the WEBHOOK_TIMEOUT of the processes; lease is how long a dispatcher reserves a delivery for one
// attempt.
const (
	timeout = 2 * time.Second
	lease   = timeout + 20*time.Second
)

// slack returns the factor of deadlines: 3 under the race detector, else 1.
func (o options) slack() time.Duration {
	const slow = 3
	if o.race {
		return slow
	}
	return 1
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{nodes: 2, rate: 200, deadline: 90 * time.Second}
	var teeth bool
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixMilli()),
		"decides the faults, their order and how receivers behave")
	flag.IntVar(&o.events, "events", 200_000, "changes to be accepted, at least")
	flag.IntVar(&o.faults, "faults", 90, "faults besides the kills at failpoints")
	flag.IntVar(&o.hits, "hits", 20, "kills at each failpoint")
	flag.StringVar(&o.only, "only", "", "inject only faults whose name matches this pattern, besides the kills")
	flag.StringVar(&o.logs, "logs", "", "directory for the logs of the processes")
	flag.BoolVar(&o.short, "short", false, "leave out what takes longer than a lease")
	flag.BoolVar(&teeth, "teeth", false, "run the broken variants instead, and demand that each is caught")
	flag.BoolVar(&o.money, "money", false, "disturb payments instead: -hits kills at each of their failpoints")
	flag.Parse()
	o.logf = func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	if err := run(ctx, o, teeth, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}
