// Package procs compiles commands of this repository and runs them as child processes, for tools and tests that
// act from outside.
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

type ProcessSpec struct {
	Name string // The process's name in error messages.
	Path string
	Args []string
	Env  []string
	Log  io.Writer // A writer that gets the process's output besides the log; nil: none.
	// A writer that gets the standard output instead of the log; nil: the log.
	Stdout io.Writer
	// Whether the process is a store, such as PgBouncer, with settings from the test only, so that Go may cache the
	// test's result.
	Store bool
}

// Process is a child process. On Linux it ends with its starter, even after SIGKILL.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   OutputBuffer
	done  <-chan struct{}
}

func Start(s ProcessSpec) (*Process, error) {
	if !s.Store {
		PreventTestCaching()
	}
	//nolint:gosec,noctx // binaries of this repository, stopped by the caller
	p := &Process{Name: s.Name, cmd: exec.Command(s.Path, s.Args...), log: OutputBuffer{Max: tailSize}}
	p.cmd.Env = s.Env
	var out io.Writer = &p.log
	if s.Log != nil {
		out = io.MultiWriter(&p.log, s.Log)
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if s.Stdout != nil {
		p.cmd.Stdout = s.Stdout
	}
	// A process group of its own keeps Ctrl-C from the child.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p.tie(syscall.SIGKILL)
}

// StartWithDeathSignal starts a child process without a log or input. On Linux the kernel sends it onDeath when
// this process ends.
func StartWithDeathSignal(name string, cmd *exec.Cmd, onDeath syscall.Signal) (*Process, error) {
	return (&Process{Name: name, cmd: cmd}).tie(onDeath)
}

func (p *Process) tie(onDeath syscall.Signal) (*Process, error) {
	dieWithParent(p.cmd.SysProcAttr, onDeath)
	started, ended := make(chan error), make(chan struct{})
	p.done = ended
	go func() {
		// The kernel sends the signal when the thread that started the child ends, so that thread stays locked.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			// The exit code is read from ProcessState, not from this error.
			_ = p.cmd.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	return p, nil
}

// Pid returns the child's process id, also after its end.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the child process runs; a nil Process does not.
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

// Signal sends a signal to the child process; after its end it does nothing.
func (p *Process) Signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// WriteLine writes a line to the child's standard input. It blocks while the pipe is full.
func (p *Process) WriteLine(line string) { _, _ = io.WriteString(p.stdin, line+"\n") }

// Kill ends the child process with SIGKILL, and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop ends the child process with SIGTERM, or with SIGKILL after grace. A kill and every exit code other than 0
// are errors.
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
		return fmt.Errorf("%s ended with %s", p.Name, p.DescribeEnd())
	}
	return nil
}

// Killed reports whether SIGKILL ended the child process.
func (p *Process) Killed() bool {
	if p.Running() {
		return false
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// DescribeEnd describes how the child process ended, or returns "running".
func (p *Process) DescribeEnd() string {
	if p.Running() {
		return "running"
	}
	return p.cmd.ProcessState.String()
}

func (p *Process) OutputTail() string { return p.log.String() }

// AwaitHTTPOK polls a URL of the child process until the response is 200. The end of the process or of ctx is an
// error.
func (p *Process) AwaitHTTPOK(ctx context.Context, url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	return p.AwaitCondition(ctx, func() error {
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

// AwaitCondition calls ask until its error is nil. The end of the child process or of ctx is an error with the
// last part of the output.
func (p *Process) AwaitCondition(ctx context.Context, ask func() error) error {
	err := AwaitCondition(ctx, p.done, ask)
	switch {
	case errors.Is(err, ErrProcessEnded):
		return fmt.Errorf("%s: %w (%s):\n%s", p.Name, err, p.DescribeEnd(), p.OutputTail())
	case err != nil:
		return fmt.Errorf("%s is not ready: %w:\n%s", p.Name, err, p.OutputTail())
	}
	return nil
}

// ErrProcessEnded ends a wait because the child process has ended.
var ErrProcessEnded = errors.New("the process has ended")

// AwaitCondition calls ask until its error is nil, ctx ends, or ended (may be nil) is closed. The error after the
// end of ctx includes the last one of ask.
func AwaitCondition(ctx context.Context, ended <-chan struct{}, ask func() error) error {
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
			return ErrProcessEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-time.After(every):
		}
	}
}

type CommandResult struct {
	Code           int
	Stdout, Stderr string
}

// Run runs a command and returns its output. An exit code other than 0 is no error.
func Run(ctx context.Context, s ProcessSpec) (e CommandResult, err error) {
	PreventTestCaching()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Path, s.Args...) //nolint:gosec // binaries of this repository and of Postgres
	cmd.Env, cmd.Stdout, cmd.Stderr = s.Env, &out, &errs
	var failed *exec.ExitError
	if err = cmd.Run(); errors.As(err, &failed) && ctx.Err() == nil {
		err = nil
	}
	return CommandResult{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, err
}

// RunForOutput runs a command and returns its standard output. An exit code other than 0 is an error.
func RunForOutput(ctx context.Context, s ProcessSpec) (string, error) {
	e, err := Run(ctx, s)
	if err == nil && e.Code != 0 {
		err = fmt.Errorf("exit code %d", e.Code)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", s.Name, err, e.Stdout, e.Stderr)
	}
	return e.Stdout, err
}
