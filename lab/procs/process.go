// Package procs builds commands of this repository and runs them as child processes, for the programs and tests that
// measure or disturb the service from outside.
package procs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Spec describes a process to start.
type Spec struct {
	Name   string // for messages
	Path   string
	Args   []string
	Env    []string
	Log    io.Writer // also gets the output; may be nil
	Stdout io.Writer // gets the standard output in place of the log; may be nil
	Store  bool      // a store that the test gives all its settings, such as PgBouncer: Go may cache the test's results
}

// Process is a running command. On Linux a Process ends with the process that started it, also after SIGKILL.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   Buffer
	done  <-chan struct{}
}

// Start starts a process.
func Start(s Spec) (*Process, error) {
	if !s.Store {
		Uncached()
	}
	//nolint:gosec,noctx // binaries of this repository, stopped by the caller
	p := &Process{Name: s.Name, cmd: exec.Command(s.Path, s.Args...), log: Buffer{Max: tailSize}}
	p.cmd.Env = s.Env
	var out io.Writer = &p.log
	if s.Log != nil {
		out = io.MultiWriter(&p.log, s.Log)
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if s.Stdout != nil {
		p.cmd.Stdout = s.Stdout
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches only the owner
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p.tie(syscall.SIGKILL)
}

// Tie starts a command. The kernel sends the command the signal onDeath when this process ends in any way; other
// systems than Linux have no such signal. The Process has no log, and takes no input.
func Tie(name string, cmd *exec.Cmd, onDeath syscall.Signal) (*Process, error) {
	return (&Process{Name: name, cmd: cmd}).tie(onDeath)
}

func (p *Process) tie(onDeath syscall.Signal) (*Process, error) {
	dieWithParent(p.cmd.SysProcAttr, onDeath)
	started, ended := make(chan error), make(chan struct{})
	p.done = ended
	go func() {
		// The kernel sends the signal when the forking thread ends, so the thread is locked for the life of the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // see ProcessState
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	return p, nil
}

// Pid of the process, also after its end.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed after the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running tells whether the process has not ended yet. A nil Process was not started.
func (p *Process) Running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends sig. After the end of the process Signal does nothing.
func (p *Process) Signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// Tell writes a line to the process's standard input. Tell blocks when the process does not read and the pipe is full.
func (p *Process) Tell(line string) { _, _ = io.WriteString(p.stdin, line+"\n") }

// Kill sends SIGKILL, as a crash ends the process, and waits for the end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop sends SIGTERM and waits for the end. After grace the process is killed.
//
// Returns an error after a kill and for every exit code other than 0.
func (p *Process) Stop(grace time.Duration) error {
	p.Signal(syscall.SIGTERM)
	p.Signal(syscall.SIGCONT)
	select {
	case <-p.done:
	case <-time.After(grace):
		p.Kill()
		return fmt.Errorf("%s did not end within %v", p.Name, grace)
	}
	if p.ExitCode() != 0 {
		return fmt.Errorf("%s ended with %s", p.Name, p.Ended())
	}
	return nil
}

// Killed tells whether the process has ended by SIGKILL.
func (p *Process) Killed() bool {
	if p.Running() {
		return false
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// ExitCode is that of a process that has ended.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Ended describes how the process ended.
func (p *Process) Ended() string {
	if p.Running() {
		return "running"
	}
	return p.cmd.ProcessState.String()
}

// Log is the last part of the process's output.
func (p *Process) Log() string { return p.log.String() }

// AwaitOK polls url until the response is 200.
//
// Returns an error when the process or ctx ends first.
func (p *Process) AwaitOK(ctx context.Context, url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	return p.Await(ctx, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %d", url, response.StatusCode)
		}
		return nil
	})
}

// Await repeats a question until its error is nil. An error of Await has the last part of the process's output.
func (p *Process) Await(ctx context.Context, ask func() error) error {
	err := Await(ctx, p.done, ask)
	switch {
	case errors.Is(err, ErrEnded):
		return fmt.Errorf("%s: %w (%s):\n%s", p.Name, err, p.Ended(), p.Log())
	case err != nil:
		return fmt.Errorf("%s is not ready: %w:\n%s", p.Name, err, p.Log())
	}
	return nil
}

// ErrEnded is the error of Await after the end of the process.
var ErrEnded = errors.New("the process has ended")

// Await asks again and again until the answer is nil. A closed ended, which may be nil, ends the wait too.
//
// Returns the end of ctx with the last answer before it, which tells more.
func Await(ctx context.Context, ended <-chan struct{}, ask func() error) error {
	const every = 20 * time.Millisecond
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
			return ErrEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-time.After(every):
		}
	}
}

// Ended is the end of a command.
type Ended struct {
	Code           int
	Stdout, Stderr string
}

// Run executes a command to its end. An exit code other than 0 is no error.
func Run(ctx context.Context, s Spec) (e Ended, err error) {
	Uncached()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Path, s.Args...) //nolint:gosec // binaries of this repository and of Postgres
	cmd.Env, cmd.Stdout, cmd.Stderr = s.Env, &out, &errs
	var failed *exec.ExitError
	if err = cmd.Run(); errors.As(err, &failed) && ctx.Err() == nil {
		err = nil
	}
	return Ended{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, err
}

// Must is Run for a command that has to succeed, and gives its standard output.
func Must(ctx context.Context, s Spec) (string, error) {
	e, err := Run(ctx, s)
	if err == nil && e.Code != 0 {
		err = fmt.Errorf("exit code %d", e.Code)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", s.Name, err, e.Stdout, e.Stderr)
	}
	return e.Stdout, err
}
