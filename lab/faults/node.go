package main

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"partnerdeposits/lab/procs"
)

// node runs a process of the service, which may be killed and started again at the same addresses.
type node struct {
	world *world
	name  string // such as "dispatcher 1"
	spec  procs.Spec
	ready string // URL of /readyz
	pg    *link
	redis *link
	index int // among the nodes of the same command
	http  bool

	mu          sync.Mutex
	process     *procs.Process
	endExpected bool // this program has caused the end of the process
}

// startLimit bounds the time from start to readiness on a busy machine.
const startLimit = 60 * time.Second

// start runs the process. With wait, start returns after the process is ready.
func (n *node) start(ctx context.Context, wait bool) error {
	spec := n.spec
	spec.Env = append([]string{"DATABASE_URL=" + n.world.databaseURL(serviceRole, n.pg.address())}, spec.Env...)
	p, err := procs.Start(spec)
	if err != nil {
		return err
	}
	p.Tell(fmt.Sprintf("skew %d", n.skew().Milliseconds()))
	n.mu.Lock()
	n.process, n.endExpected = p, false
	n.mu.Unlock()
	go n.watch(p)
	if !wait {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return p.AwaitOK(ctx, n.ready)
}

// idSkew is by how much the ids of the first http are ahead. It exceeds the time for which a deposit is covered, so that the
// ids of a deposit's events are in another order than its changes.
const idSkew = 3 * time.Second

func (n *node) skew() time.Duration {
	if n.http && n.index == 0 {
		return idSkew
	}
	return 0
}

// watch reports a violation when the process ends although this program did not cause the end.
func (n *node) watch(p *procs.Process) {
	<-p.Done()
	n.mu.Lock()
	endExpected := n.endExpected || n.process != p
	n.mu.Unlock()
	if !endExpected || !p.Killed() && p.Ended() != "exit status 0" {
		n.world.receipts.violate("crash", "%s ended by itself, with %s:\n%s", n.name, p.Ended(), p.Log())
	}
}

func (n *node) current() *procs.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

// expectEnd records whether the coming end of the process is caused by this program.
func (n *node) expectEnd(yes bool) *procs.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.endExpected = yes
	return n.process
}

// kill ends the process with SIGKILL and records the deliveries in flight.
func (n *node) kill(ctx context.Context) error {
	n.expectEnd(true).Kill()
	return n.world.noteInFlight(ctx, n)
}

// stop ends the process as a deployment does.
func (n *node) stop() error {
	const grace = 40 * time.Second
	return n.expectEnd(true).Stop(grace)
}

// restart stops the process with SIGTERM and starts it again.
func (n *node) restart(ctx context.Context) error {
	if err := n.stop(); err != nil {
		n.world.receipts.violate("shutdown", "%s: %v\n%s", n.name, err, n.current().Log())
	}
	return n.start(ctx, true)
}

// freeze suspends the process; thaw resumes it.
func (n *node) freeze() { n.current().Signal(syscall.SIGSTOP) }
func (n *node) thaw()   { n.current().Signal(syscall.SIGCONT) }

// dieAt makes the process kill itself at the count-th hit of a failpoint, and tells whether that happened within
// patience.
func (n *node) dieAt(ctx context.Context, point string, count int, patience time.Duration) (reached bool, err error) {
	p := n.expectEnd(true)
	defer func() {
		if !reached {
			n.expectEnd(false)
		}
	}()
	var caught <-chan struct{}
	if point == postUnderWay {
		var release func()
		caught, release = n.world.receivers.catch(n.index)
		defer release()
	} else {
		p.Tell(order(point, count))
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-p.Done():
	case <-caught:
		p.Kill()
	case <-timer.C:
		p.Tell("off")
		select {
		case <-p.Done(): // the process died just as patience ended
		case <-time.After(200 * time.Millisecond):
			return false, nil
		}
	}
	return true, n.world.noteInFlight(ctx, n)
}
