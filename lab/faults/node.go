package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"partnerdeposits/lab/pgproxy"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/world"
)

// node is a process of the service with proxied connections to Postgres and Redis. Faults kill and restart it.
type node struct {
	*world.ServiceProcess
	suite *suite
	pg    *pgproxy.TCPProxy
	redis *pgproxy.TCPProxy
	http  bool

	// Whether this program caused the end of the process; any other end is a crash.
	endExpected atomic.Bool
}

// start starts the process of the service without waiting until it is ready.
func (n *node) start() error {
	if err := n.Start(); err != nil {
		return err
	}
	p := n.expectEnd(false)
	// This process's clock for ids is ahead by more than a deposit's cover, so that the order of ids differs from
	// that of changes.
	if n.Name == "http 1" {
		p.WriteLine("skew 3000")
	}
	go n.watch(p)
	return nil
}

// begin starts the process of the service and waits until it is ready.
func (n *node) begin(ctx context.Context) error {
	if err := n.start(); err != nil {
		return err
	}
	return n.AwaitReady(ctx)
}

// watch records an end of the process that this program did not cause as a violation.
func (n *node) watch(p *procs.Process) {
	<-p.Done()
	if !n.endExpected.Load() && n.Process() == p || !p.Killed() && p.ExitCode() != 0 {
		n.suite.receipts.violate("crash", "%s ended by itself, with %s:\n%s", n.Name, p.DescribeEnd(), p.OutputTail())
	}
}

// expectEnd stores whether this program causes the coming end of the process, and returns the process.
func (n *node) expectEnd(yes bool) *procs.Process {
	n.endExpected.Store(yes)
	return n.Process()
}

// killAndStart kills the process, records the deliveries in flight, and starts the process again.
func (n *node) killAndStart(ctx context.Context) error {
	n.expectEnd(true).Kill()
	if err := n.suite.noteInFlight(ctx, n); err != nil {
		return err
	}
	return n.begin(ctx)
}

// stop ends the process with SIGTERM, as a deployment does.
func (n *node) stop(context.Context) error {
	const grace = 40 * time.Second
	return n.expectEnd(true).Stop(grace)
}

// restart stops the process with SIGTERM and starts it again. A failed stop is a violation.
func (n *node) restart(ctx context.Context) error {
	if err := n.stop(ctx); err != nil {
		n.suite.receipts.violate("shutdown", "%s: %v\n%s", n.Name, err, n.Process().OutputTail())
	}
	return n.begin(ctx)
}

// dieAt makes the process kill itself at the count-th hit of a failpoint. reached reports whether it died within
// patience.
func (n *node) dieAt(ctx context.Context, point string, count int, patience time.Duration) (reached bool, err error) {
	p := n.expectEnd(true)
	defer func() {
		if !reached {
			n.expectEnd(false)
		}
	}()
	p.WriteLine(fmt.Sprintf("%s %d", point, count))
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-p.Done():
	case <-time.After(patience):
		p.WriteLine("off")
		select {
		case <-p.Done(): // The process has died as the waiting time ended.
		case <-time.After(200 * time.Millisecond):
			return false, nil
		}
	}
	return true, n.suite.noteInFlight(ctx, n)
}
