package backing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"partnerdeposits/lab/procs"
)

const (
	startLimit = 60 * time.Second // for a start, with recovery after a crash
	stopLimit  = 30 * time.Second // for an orderly stop
)

// native is a server run from a binary on this machine.
type native struct {
	name  string
	home  *home
	argv  func(port int) []string
	ready func(ctx context.Context, port, pid int) error // checks that the server answers and is the expected process

	gentle    syscall.Signal // for a stop that finishes the work in flight
	immediate syscall.Signal // for an immediate stop, which the kernel sends when this process dies

	mu    sync.Mutex
	port  int
	child *procs.Process
}

// startFresh starts the server on a free port. first is tried before others, unless it is 0.
func (n *native) startFresh(ctx context.Context, first int) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port, err = freePort(first); err != nil {
		return err
	}
	return n.launch(ctx)
}

// launch starts the process on n.port and waits until it answers. Callers hold mu.
func (n *native) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c, err := startChild(n.name, n.home.command(n.argv(n.port)...), n.immediate)
	if err != nil {
		return err
	}
	n.child = c
	err = procs.Await(ctx, c.Done(), func() error {
		if err := n.ready(ctx, n.port, c.Pid()); err != nil || c.Running() {
			return err
		}
		return procs.ErrEnded
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, procs.ErrEnded):
		return fmt.Errorf("%s ended as it started (%s); its log says:\n%s", n.name, c.Ended(), n.home.tail())
	}
	n.killAll()
	return fmt.Errorf("%s did not answer in time (%w); its log says:\n%s", n.name, err, n.home.tail())
}

// Pid is the server's main process.
func (n *native) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.child.Running() {
		return 0
	}
	return n.child.Pid()
}

func (n *native) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.killAll()
	return nil
}

// killAll sends SIGKILL to the server and all its children at the same time, like a power failure. Callers hold mu.
func (n *native) killAll() {
	if n.child.Running() {
		n.child.Signal(syscall.SIGSTOP) // a suspended parent forks no more children
	}
	for {
		pids := processesIn(n.home.dir)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if n.child.Running() {
			n.child.Kill()
		}
		if len(pids) == 0 {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (n *native) Stop(immediate bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stop(immediate)
}

// stop ends the server with its own signal, or with SIGKILL after a timeout. Callers hold mu.
func (n *native) stop(immediate bool) error {
	if !n.child.Running() {
		return nil
	}
	n.child.Signal(map[bool]syscall.Signal{true: n.immediate, false: n.gentle}[immediate])
	n.signalAll(syscall.SIGCONT) // a suspended process cannot stop
	select {
	case <-n.child.Done():
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
	return n.launch(ctx) // no outgoing connection takes the port meanwhile: see FreePort
}

func (n *native) Pause() error  { return n.suspend(syscall.SIGSTOP) }
func (n *native) Resume() error { return n.suspend(syscall.SIGCONT) }

func (n *native) suspend(signal syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.child.Running() {
		return fmt.Errorf("pause or resume %s: it is not running", n.name)
	}
	n.child.Signal(signal) // suspends the parent first, so that no child is forked meanwhile
	n.signalAll(signal)
	return nil
}

func (n *native) signalAll(signal syscall.Signal) {
	for _, pid := range processesIn(n.home.dir) {
		_ = syscall.Kill(pid, signal)
	}
	n.child.Signal(signal)
}

func (n *native) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.stop(true) // the data is removed anyway, so an immediate stop is enough
	n.home.remove()
	return err
}

// FreePort finds a free port of 127.0.0.1 below the range of outgoing connections, and keeps the port for this process:
// no other call gives it, in any process. A server that starts late, or is down for a while, therefore finds its port
// still free.
func FreePort() (int, error) { return freePort(0) }

// freePort is FreePort, and tries a port first unless it is 0.
func freePort(first int) (int, error) {
	const from, below, tries = 10_000, 32_000, 100
	for range tries {
		port := cmp.Or(first, from+rand.IntN(below-from))
		first = 0
		if !keepPort(port) {
			continue
		}
		// A listener of our own would be inherited by a program that another goroutine starts, and would occupy the port
		// until the exec of that program.
		conn, err := net.Dial("tcp4", loopback(port)) //nolint:noctx // this machine answers at once
		if errors.Is(err, syscall.ECONNREFUSED) {
			return port, nil
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	return 0, errors.New("no free port from 10000 to 31999")
}

// keptPorts are the ports of this process. A port is kept by the lock of a byte in a file of the user, until the
// process ends. The file stays: a process that removed it would take the locks of others along.
var keptPorts struct {
	mu    sync.Mutex
	file  *os.File
	ports map[int]bool
}

func keepPort(port int) bool {
	keptPorts.mu.Lock()
	defer keptPorts.mu.Unlock()
	if keptPorts.file == nil {
		name := filepath.Join(os.TempDir(), fmt.Sprintf("partnerdeposits-ports-%d", os.Getuid()))
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return true // without the file, nothing but chance keeps a port
		}
		keptPorts.file, keptPorts.ports = file, map[int]bool{}
	}
	if keptPorts.ports[port] { // a process may lock a byte twice
		return false
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: int64(port), Len: 1}
	keptPorts.ports[port] = syscall.FcntlFlock(keptPorts.file.Fd(), syscall.F_SETLK, &lock) == nil
	return keptPorts.ports[port]
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// startChild starts cmd. The kernel sends cmd the signal onDeath when this process ends in any way.
func startChild(name string, cmd *exec.Cmd, onDeath syscall.Signal) (*procs.Process, error) {
	// In a session of its own the child gets no Ctrl-C: this process stops its children in order.
	cmd.SysProcAttr.Setsid = true
	return procs.Tie(name, cmd, onDeath)
}

// runChild starts a command of the server like startChild, waits for its end, and shows its output where it failed.
func (h *home) runChild(program string, args ...string) error {
	name := filepath.Base(program)
	c, err := startChild(name, h.command(append([]string{program}, args...)...), syscall.SIGKILL)
	if err != nil {
		return err
	}
	<-c.Done()
	if c.ExitCode() != 0 {
		return fmt.Errorf("%s: %s; it says:\n%s", name, c.Ended(), h.tail())
	}
	return nil
}
