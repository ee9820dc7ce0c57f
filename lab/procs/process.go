// Package procs runs built commands of this repository as child processes, for the programs that measure or disturb the
// service from outside.
package procs

import (
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
	Name string // for messages
	Path string
	Args []string
	Env  []string
	Log  io.Writer // also gets the output; may be nil
}

// Process is a running command. On Linux a Process ends with the process that started it, also after SIGKILL.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   tail
	done  chan struct{}
}

// Start starts a process.
func Start(s Spec) (*Process, error) {
	p := &Process{Name: s.Name, cmd: exec.Command(s.Path, s.Args...), done: make(chan struct{})} //nolint:gosec,noctx // binaries of this repository, stopped by the caller
	p.cmd.Env = s.Env
	var out io.Writer = &p.log
	if s.Log != nil {
		out = io.MultiWriter(&p.log, s.Log)
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = attributes()
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// The kernel sends the parent-death signal when the forking thread ends, so the thread is locked for the life
		// of the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // ProcessState tells how the process ended
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	return p, nil
}

// Pid of the process, also after its end.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed after the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running tells whether the process has not ended yet.
func (p *Process) Running() bool {
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
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
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

// Ended describes how the process ended.
func (p *Process) Ended() string {
	if p.Running() {
		return "running"
	}
	return p.cmd.ProcessState.String()
}

// Log is the last part of the process's output.
func (p *Process) Log() string { return p.log.String() }

var errEnded = errors.New("the process has ended")

// AwaitOK polls url until the response is 200.
//
// Returns an error when the process or ctx ends first.
func (p *Process) AwaitOK(ctx context.Context, url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		if last = ask(ctx, client, url); last == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s: %w (%s):\n%s", p.Name, errEnded, p.Ended(), p.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w:\n%s", p.Name, errors.Join(ctx.Err(), last), p.Log())
		case <-ticker.C:
		}
	}
}

func ask(ctx context.Context, client *http.Client, url string) error {
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
}
