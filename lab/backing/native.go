package backing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startLimit = 60 * time.Second // for a start, with recovery after a crash
	stopLimit  = 30 * time.Second // for an orderly stop
)

var errPortTaken = errors.New("the port is taken")

// native is a server run from a binary on this machine.
type native struct {
	name  string
	home  *home
	argv  func(port int) []string
	ready func(ctx context.Context, port, pid int) error // checks that the server answers and is the expected process

	onDeath   syscall.Signal // signal from the kernel when this process dies
	gentle    syscall.Signal // for a stop that finishes the work in flight
	immediate syscall.Signal // for an immediate stop

	mu    sync.Mutex
	port  int
	child *child
}

// startFresh starts the server on a free port, and tries several because another process may take the port first.
func (n *native) startFresh(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	for range 5 {
		if n.port, err = FreePort(); err != nil {
			return err
		}
		if err = n.launch(ctx); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// launch starts the process on n.port and waits until it answers. Callers hold mu.
func (n *native) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	logged := n.home.logSize()
	c, err := startChild(n.home.command(n.argv(n.port)...), n.onDeath)
	if err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	n.child = c
	err = await(ctx, c.done, func() error {
		if err := n.ready(ctx, n.port, c.pid()); err != nil || c.running() {
			return err
		}
		return errEnded
	})
	text := n.home.logSince(logged)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, errEnded):
		n.killAll()
		return fmt.Errorf("%s did not answer in time (%w); its log says:\n%s", n.name, err, text)
	case strings.Contains(text, "Address already in use"):
		return errPortTaken
	default:
		return fmt.Errorf("%s ended as it started (%w); its log says:\n%s", n.name, c.err, text)
	}
}

// Pid is the server's main process.
func (n *native) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.child == nil || !n.child.running() {
		return 0
	}
	return n.child.pid()
}

func (n *native) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.killAll()
	return nil
}

// killAll sends SIGKILL to the server and all its children at the same time, like a power failure. Callers hold mu.
func (n *native) killAll() {
	if n.child != nil && n.child.running() {
		_ = n.child.cmd.Process.Signal(syscall.SIGSTOP) // a suspended parent forks no more children
	}
	for {
		pids := processesIn(n.home.dir)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if n.child != nil && n.child.running() {
			_ = n.child.cmd.Process.Kill()
			<-n.child.done
		}
		if len(pids) == 0 {
			return
		}
		<-time.After(pollEvery / 4)
	}
}

func (n *native) Stop(immediate bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stop(immediate)
}

// stop ends the server with its own signal, or with SIGKILL after a timeout. Callers hold mu.
func (n *native) stop(immediate bool) error {
	if n.child == nil || !n.child.running() {
		return nil
	}
	signal := n.gentle
	if immediate {
		signal = n.immediate
	}
	_ = n.child.cmd.Process.Signal(signal)
	n.signalAll(syscall.SIGCONT) // a suspended process cannot stop
	select {
	case <-n.child.done:
		n.killAll() // only stragglers are left
		return nil
	case <-time.After(stopLimit):
		n.killAll()
		return fmt.Errorf("%s did not stop within %s and was killed", n.name, stopLimit)
	}
}

func (n *native) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.stop(false); err != nil {
		return err
	}
	// An outgoing connection of some other process may use the port for a moment.
	patient, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var failed error
	err := await(patient, nil, func() error {
		if failed = n.launch(ctx); errors.Is(failed, errPortTaken) {
			return failed
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("restart %s: port %d stayed taken: %w", n.name, n.port, err)
	}
	return failed
}

func (n *native) Pause() error  { return n.suspend(syscall.SIGSTOP) }
func (n *native) Resume() error { return n.suspend(syscall.SIGCONT) }

func (n *native) suspend(signal syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.child == nil || !n.child.running() {
		return fmt.Errorf("pause or resume %s: it is not running", n.name)
	}
	_ = n.child.cmd.Process.Signal(signal) // suspends the parent first, so that no child is forked meanwhile
	n.signalAll(signal)
	return nil
}

func (n *native) signalAll(signal syscall.Signal) {
	for _, pid := range processesIn(n.home.dir) {
		_ = syscall.Kill(pid, signal)
	}
	_ = n.child.cmd.Process.Signal(signal)
}

func (n *native) Log() string { return n.home.logSince(0) }

func (n *native) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.stop(true) // the data is removed anyway, so an immediate stop is enough
	n.home.remove()
	return err
}

// FreePort finds a free port of 127.0.0.1 below the range of outgoing connections, and keeps the port for this process: no other call
// gives it, in any process. A server that starts late, or is down for a while, therefore finds its port still free.
func FreePort() (int, error) {
	const from, below, tries = 10_000, 32_000, 100
	for range tries {
		port := from + rand.IntN(below-from)
		kept, err := keepPort(port)
		if err != nil {
			return 0, err
		}
		if !kept {
			continue
		}
		if listener, err := net.Listen("tcp4", loopback(port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("no free port from 10000 to 31999")
}

// keptPorts are the ports of this process. A port is kept by the lock of a byte in a file of the user, until the process ends.
var keptPorts struct {
	mu    sync.Mutex
	file  *os.File
	ports map[int]bool
}

func keepPort(port int) (kept bool, err error) {
	keptPorts.mu.Lock()
	defer keptPorts.mu.Unlock()
	if keptPorts.file == nil {
		name := filepath.Join(os.TempDir(), fmt.Sprintf("partnerdeposits-ports-%d", os.Getuid()))
		if keptPorts.file, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			return false, err
		}
		keptPorts.ports = map[int]bool{}
	}
	if keptPorts.ports[port] { // a process may lock a byte twice
		return false, nil
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: int64(port), Len: 1}
	keptPorts.ports[port] = syscall.FcntlFlock(keptPorts.file.Fd(), syscall.F_SETLK, &lock) == nil
	return keptPorts.ports[port], nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
