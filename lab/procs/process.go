// Package procs compiles commands of this repository and runs them as child processes, for programs and tests that
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

// ProcessSpec describes a child process to start: program, arguments, environment and output.
type ProcessSpec struct {
	Name string // The name by which error messages mention the process.
	Path string
	Args []string
	Env  []string
	Log  io.Writer // A writer that gets the process's output besides the log; nil: only the log gets it.
	// A writer that gets the standard output instead of the log; nil: the log gets it.
	Stdout io.Writer
	// true: the process is a store, such as PgBouncer, whose settings all come from the test, so Go may cache the
	// test's result; false: Go must not.
	Store bool
}

// Process is a child process. On Linux it ends with the process that started it, even after SIGKILL.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   OutputBuffer
	done  <-chan struct{}
}

// Start starts a child process whose output is kept in its log.
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
	// Start the child in a process group of its own, so that Ctrl-C does not reach it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p.tie(syscall.SIGKILL)
}

// StartWithDeathSignal starts a command as a child process. The kernel sends it the signal onDeath when this process
// ends in any way; only Linux has such a signal. The Process has no log, and gets no input.
func StartWithDeathSignal(name string, cmd *exec.Cmd, onDeath syscall.Signal) (*Process, error) {
	return (&Process{Name: name, cmd: cmd}).tie(onDeath)
}

func (p *Process) tie(onDeath syscall.Signal) (*Process, error) {
	dieWithParent(p.cmd.SysProcAttr, onDeath)
	started, ended := make(chan error), make(chan struct{})
	p.done = ended
	go func() {
		// The thread that starts the child is locked while the child runs, because the kernel sends the signal when that
		// thread ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			// The error is ignored: the exit code is read from ProcessState.
			_ = p.cmd.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	return p, nil
}

// Pid returns the id of the child process, also after its end.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed after the child process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the child process runs. true: it has not ended; false: it has ended, or the Process is
// nil and was never started.
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

// Signal sends a signal to the child process. After the end of the process it does nothing.
func (p *Process) Signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// WriteLine writes a line to the child process's standard input. It blocks when the process does not read and the pipe
// is full.
func (p *Process) WriteLine(line string) { _, _ = io.WriteString(p.stdin, line+"\n") }

// Kill ends the child process with SIGKILL, as a crash does, and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop ends the child process with SIGTERM and waits for its end. If it still runs after grace, it is killed.
//
// Stop returns an error after a kill and for every exit code other than 0.
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

// Killed reports whether the child process was ended by SIGKILL. false: it runs, or ended in another way.
func (p *Process) Killed() bool {
	if p.Running() {
		return false
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// ExitCode returns the exit code of a child process that has ended.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// DescribeEnd returns a text that describes how the child process ended, or "running".
func (p *Process) DescribeEnd() string {
	if p.Running() {
		return "running"
	}
	return p.cmd.ProcessState.String()
}

// OutputTail returns the last part of the child process's output.
func (p *Process) OutputTail() string { return p.log.String() }

// AwaitHTTPOK polls a URL of the child process until the response is 200.
//
// Returns an error when the process or ctx ends first.
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

// AwaitCondition calls ask again and again until its error is nil, the child process ends or ctx ends. Its error holds
// the last part of the process's output.
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

// ErrProcessEnded is the error of a wait that ends because the child process has ended.
var ErrProcessEnded = errors.New("the process has ended")

// AwaitCondition calls ask again and again until its error is nil, ctx ends, or the channel ended is closed; that
// channel may be nil.
//
// The error after the end of ctx includes the last error of ask, which says what was missing.
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

// CommandResult holds the exit code and the output of a command that has ended.
type CommandResult struct {
	Code           int
	Stdout, Stderr string
}

// Run runs a command to its end and returns its output. An exit code other than 0 is not an error.
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

// RunForOutput runs a command to its end and returns its standard output. An exit code other than 0 is an error.
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
