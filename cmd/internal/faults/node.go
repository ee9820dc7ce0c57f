package main

import (
	"context"
	"sync"
	"syscall"
	"time"

	"partnerdeposits/cmd/internal/procs"
)

// node is a place for one process of the service: it is killed and started again, its addresses stay.
type node struct {
	world *world
	name  string // "dispatcher 1"
	spec  procs.Spec
	ready string // URL of its readiness
	pg    *link
	redis *link
	index int // among its kind
	http  bool

	mu      sync.Mutex
	process *procs.Process
	doomed  bool // its end is our doing
}

// startLimit is how long a process may take until it is ready, on a busy machine.
const startLimit = 60 * time.Second

// start runs the process; with wait it returns once the process is ready.
func (n *node) start(ctx context.Context, wait bool) error {
	p, err := procs.Start(n.spec)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.process, n.doomed = p, false
	n.mu.Unlock()
	go n.watch(p)
	if !wait {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return p.AwaitOK(ctx, n.ready)
}

// watch tells when the process ends and nobody wanted it to.
func (n *node) watch(p *procs.Process) {
	<-p.Done()
	n.mu.Lock()
	doomed := n.doomed || n.process != p
	n.mu.Unlock()
	if !doomed || !p.Killed() && p.Ended() != "exit status 0" {
		n.world.ledger.violate("crash", "%s ended by itself, with %s:\n%s", n.name, p.Ended(), p.Log())
	}
}

func (n *node) current() *procs.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

// doom says that the end of the process is our doing from now on, or no longer.
func (n *node) doom(yes bool) *procs.Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.doomed = yes
	return n.process
}

// kill ends the process with SIGKILL and takes stock of what was in flight.
func (n *node) kill(ctx context.Context) error {
	n.doom(true).Kill()
	return n.world.takeStock(ctx, n)
}

// stop ends the process as a deployment does.
func (n *node) stop() error {
	const grace = 40 * time.Second
	return n.doom(true).Stop(grace)
}

// restart ends the process gently and starts it again.
func (n *node) restart(ctx context.Context) error {
	if err := n.stop(); err != nil {
		n.world.ledger.violate("shutdown", "%s: %v\n%s", n.name, err, n.current().Log())
	}
	return n.start(ctx, true)
}

// freeze stops the process in its tracks; thaw lets it go on.
func (n *node) freeze() { n.current().Signal(syscall.SIGSTOP) }
func (n *node) thaw()   { n.current().Signal(syscall.SIGCONT) }

// dieAt has the process kill itself at the count-th hit of a failpoint, and tells whether it did within patience.
func (n *node) dieAt(ctx context.Context, point string, count int, patience time.Duration) (reached bool, err error) {
	p := n.doom(true)
	defer func() {
		if !reached {
			n.doom(false)
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
		case <-p.Done(): // it was about to
		case <-time.After(200 * time.Millisecond):
			return false, nil
		}
	}
	return true, n.world.takeStock(ctx, n)
}
