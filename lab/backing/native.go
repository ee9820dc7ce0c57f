package backing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"partnerdeposits/lab/procs"
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
		if err := n.ready(ctx, n.port, c.cmd.Process.Pid); err != nil || c.running() {
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
		return fmt.Errorf("%s ended as it started (%v); its log says:\n%s", n.name, c.cmd.ProcessState, text)
	}
}

// Pid is the server's main process.
func (n *native) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.child.running() {
		return 0
	}
	return n.child.cmd.Process.Pid
}

func (n *native) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.killAll()
	return nil
}

// killAll sends SIGKILL to the server and all its children at the same time, like a power failure. Callers hold mu.
func (n *native) killAll() {
	if n.child.running() {
		_ = n.child.cmd.Process.Signal(syscall.SIGSTOP) // a suspended parent forks no more children
	}
	for {
		pids := processesIn(n.home.dir)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if n.child.running() {
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
	if !n.child.running() {
		return nil
	}
	_ = n.child.cmd.Process.Signal(map[bool]syscall.Signal{true: n.immediate, false: n.gentle}[immediate])
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
	return n.launch(ctx) // no outgoing connection takes the port meanwhile: see FreePort
}

func (n *native) Pause() error  { return n.suspend(syscall.SIGSTOP) }
func (n *native) Resume() error { return n.suspend(syscall.SIGCONT) }

func (n *native) suspend(signal syscall.Signal) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.child.running() {
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
		if !keepPort(port) {
			continue
		}
		if listener, err := net.Listen("tcp4", loopback(port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("no free port from 10000 to 31999")
}

// keptPorts are the ports of this process. A port is kept by the lock of a byte in a file of the user, until the process
// ends. The file stays: a process that removed it would take the locks of others along.
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

// child is a process that the kernel ends when this process ends.
type child struct {
	cmd  *exec.Cmd
	done <-chan struct{} // closed after the process has ended and was waited for
}

// startChild starts cmd. The kernel sends cmd the signal onDeath when this process ends in any way.
func startChild(cmd *exec.Cmd, onDeath syscall.Signal) (*child, error) {
	// In a session of its own the child gets no Ctrl-C: this process stops its children in order.
	cmd.SysProcAttr.Setsid = true
	dieWithParent(cmd.SysProcAttr, onDeath)
	done, err := procs.Tie(cmd)
	return &child{cmd: cmd, done: done}, err
}

// runChild starts cmd like startChild and waits for its end.
func runChild(cmd *exec.Cmd) error {
	c, err := startChild(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	<-c.done
	if !cmd.ProcessState.Success() {
		return errors.New(cmd.ProcessState.String())
	}
	return nil
}

// running tells whether a child that was started has not ended. A nil child was not started.
func (c *child) running() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// pollEvery is the time between two questions to a server.
const pollEvery = 20 * time.Millisecond

// await asks again and again until the answer is nil. A closed ended, which may be nil, ends the wait too.
//
// Returns the end of ctx with the last answer before it, which tells more.
func await(ctx context.Context, ended <-chan struct{}, ask func() error) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	var last error
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-poll.C:
		}
	}
}

var errEnded = errors.New("the process has ended")
