// Package procs builds commands of this repository and runs them as child processes, for the programs and tests that
// measure or disturb the service from outside.
package procs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
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
	//nolint:gosec,noctx // binaries of this repository, stopped by the caller
	p := &Process{Name: s.Name, cmd: exec.Command(s.Path, s.Args...), log: Buffer{Most: tailSize}}
	p.cmd.Env = s.Env
	var out io.Writer = &p.log
	if s.Log != nil {
		out = io.MultiWriter(&p.log, s.Log)
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if s.Stdout != nil {
		p.cmd.Stdout = s.Stdout
	}
	p.cmd.SysProcAttr = attributes()
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.done, err = Tie(p.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	return p, nil
}

// Tie starts a command whose attributes have a parent-death signal: the kernel sends it when this process ends in any way.
// done is closed after the end of the command, and ProcessState then tells how.
func Tie(cmd *exec.Cmd) (done <-chan struct{}, err error) {
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The kernel sends the signal when the forking thread ends, so the thread is locked for the life of the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // see ProcessState
			close(ended)
		}
	}()
	return ended, <-started
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

var errEnded = errors.New("the process has ended")

// AwaitOK polls url until the response is 200.
//
// Returns an error when the process or ctx ends first.
func (p *Process) AwaitOK(ctx context.Context, url string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	return p.await(ctx, func() error { return ask(ctx, client, url) })
}

// Listening waits until the process has logged that it listens for operators, and gives their base URL.
func (p *Process) Listening(ctx context.Context) (base string, err error) {
	err = p.await(ctx, func() error {
		for line := range strings.Lines(p.Log()) {
			var entry struct{ Msg, For, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" && entry.For == "operators" {
				base = "http://" + entry.Address
				return nil
			}
		}
		return errors.New("it does not listen")
	})
	return base, err
}

// await repeats a question until its error is nil.
func (p *Process) await(ctx context.Context, ask func() error) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		last := ask()
		if last == nil {
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

// Ended is the end of a command.
type Ended struct {
	Code           int
	Stdout, Stderr string
}

// Run executes a command to its end. An exit code other than 0 is no error.
func Run(ctx context.Context, s Spec) (e Ended, err error) {
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
