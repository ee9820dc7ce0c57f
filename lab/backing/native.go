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
	// Time limit for the server's start, recovery after a crash included.
	startLimit = 60 * time.Second
	stopLimit  = 30 * time.Second
)

// nativeServer is a Postgres or a Redis run from a binary on this machine.
type nativeServer struct {
	name string
	home *home
	argv func(port int) []string
	// A function that returns nil once the process with that id answers on the port.
	ready func(ctx context.Context, port, pid int) error

	gentle syscall.Signal // The signal after which the server finishes its work in flight.
	// The signal that stops the server at once. The kernel also sends it when this process dies.
	immediate syscall.Signal

	mu    sync.Mutex
	port  int
	child *procs.Process
}

// startFresh starts the server on a free port: on first, unless it is 0 or in use.
func (n *nativeServer) startFresh(ctx context.Context, first int) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.port, err = freePort(first); err != nil {
		return err
	}
	return n.launch(ctx)
}

// launch starts the server on n.port and waits until it answers. Callers hold mu.
func (n *nativeServer) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c, err := startChild(n.name, n.home.command(n.argv(n.port)...), n.immediate)
	if err != nil {
		return err
	}
	n.child = c
	err = procs.AwaitCondition(ctx, c.Done(), func() error {
		if err := n.ready(ctx, n.port, c.Pid()); err != nil || c.Running() {
			return err
		}
		return procs.ErrProcessEnded
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, procs.ErrProcessEnded):
		return fmt.Errorf("%s ended as it started (%s); its log says:\n%s", n.name, c.DescribeEnd(), n.home.tail())
	}
	n.killAll()
	return fmt.Errorf("%s did not answer in time (%w); its log says:\n%s", n.name, err, n.home.tail())
}

// Pid returns the process id of the server; 0 if it does not run.
func (n *nativeServer) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.child.Running() {
		return 0
	}
	return n.child.Pid()
}

func (n *nativeServer) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.killAll()
	return nil
}

// killAll sends SIGKILL to the server and its children, like a power failure. Callers hold mu.
func (n *nativeServer) killAll() {
	if n.child.Running() {
		// The suspension keeps the server from forking more children while they are killed.
		n.child.Signal(syscall.SIGSTOP)
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

func (n *nativeServer) Stop(immediate bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stop(immediate)
}

// stop ends the server with its stop signal, or after a timeout with SIGKILL. Callers hold mu.
func (n *nativeServer) stop(immediate bool) error {
	if !n.child.Running() {
		return nil
	}
	n.child.Signal(map[bool]syscall.Signal{true: n.immediate, false: n.gentle}[immediate])
	n.signalAll(syscall.SIGCONT) // A suspended server would not handle the stop signal.
	select {
	case <-n.child.Done():
		n.killAll()
		return nil
	case <-time.After(stopLimit):
		n.killAll()
		return fmt.Errorf("%s did not stop within %s and was killed", n.name, stopLimit)
	}
}

func (n *nativeServer) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.stop(false); err != nil {
		return err
	}
	// The port is still free: FreePort chose one that no outgoing connection takes.
	return n.launch(ctx)
}

func (n *nativeServer) Pause() error  { return n.suspend(syscall.SIGSTOP) }
func (n *nativeServer) Resume() error { return n.suspend(syscall.SIGCONT) }

func (n *nativeServer) suspend(signal syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.child.Running() {
		return fmt.Errorf("pause or resume %s: it is not running", n.name)
	}
	// The server's parent process is suspended first, so that it forks no child meanwhile.
	n.child.Signal(signal)
	n.signalAll(signal)
	return nil
}

func (n *nativeServer) signalAll(signal syscall.Signal) {
	for _, pid := range processesIn(n.home.dir) {
		_ = syscall.Kill(pid, signal)
	}
	n.child.Signal(signal)
}

func (n *nativeServer) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.stop(true)
	n.home.remove()
	return err
}

// FreePort reserves a free port of 127.0.0.1 for this process, below those of outgoing connections: a server that
// starts late finds it free.
func FreePort() (int, error) { return freePort(0) }

// freePort reserves a free port of 127.0.0.1 for this process: first, unless it is 0 or in use.
func freePort(first int) (int, error) {
	const from, below, tries = 10_000, 32_000, 100
	for range tries {
		port := cmp.Or(first, from+rand.IntN(below-from))
		first = 0
		if !keepPort(port) {
			continue
		}
		// The port is tested with a connection: programs that other goroutines start would inherit a listener and occupy
		// the port.
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

// keptPorts holds the ports that this process has reserved, each by the lock of a byte in a file. The file stays:
// removing it would drop the locks of other processes.
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
			// Without the file of locks no port is reserved; a collision is then still unlikely.
			return true
		}
		keptPorts.file, keptPorts.ports = file, map[int]bool{}
	}
	// A process may lock a byte twice, so its own ports are checked too.
	if keptPorts.ports[port] {
		return false
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: int64(port), Len: 1}
	keptPorts.ports[port] = syscall.FcntlFlock(keptPorts.file.Fd(), syscall.F_SETLK, &lock) == nil
	return keptPorts.ports[port]
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// startChild starts a child process, to which the kernel sends onDeath when this process ends.
func startChild(name string, cmd *exec.Cmd, onDeath syscall.Signal) (*procs.Process, error) {
	// A session of its own keeps Ctrl-C from the child: this process stops its children in order.
	cmd.SysProcAttr.Setsid = true
	return procs.StartWithDeathSignal(name, cmd, onDeath)
}

// runChild runs a command of the server to its end; the error holds the output.
func (h *home) runChild(program string, args ...string) error {
	name := filepath.Base(program)
	c, err := startChild(name, h.command(append([]string{program}, args...)...), syscall.SIGKILL)
	if err != nil {
		return err
	}
	<-c.Done()
	if c.ExitCode() != 0 {
		return fmt.Errorf("%s: %s; it says:\n%s", name, c.DescribeEnd(), h.tail())
	}
	return nil
}
