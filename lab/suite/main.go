// Command suite runs tests and prints their progress. Its arguments are a command that prints events of `go test
// -json`, such as scripts/run-tests.sh:
//
//	bin/suite scripts/run-tests.sh
//
// All test programs share a Postgres with every migration applied to a template database (package pgtest): a
// server and its migrations cost each program more than many tests do. A Redis is not shared, since its channels
// and scripts reach beyond the databases that tests use.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"partnerdeposits/lab/pgtest"
)

// every is the interval of the tests' progress lines.
const every = 5 * time.Second

func main() {
	passed, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
	}
	if !passed {
		os.Exit(1)
	}
}

// run runs the command whose events are tests. passed reports whether all passed. After Ctrl-C it waits for the
// command to end.
func run(command []string, out io.Writer) (passed bool, err error) {
	if len(command) == 0 {
		return false, errors.New("name a command that prints events of go test -json")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report := newReport(out)
	defer report.tick(every)()
	environ, end, err := pgtest.StartSharedServer(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the command is the caller's
	// A process group of its own gets an interrupt as a whole: the tests and their servers too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.Stderr, cmd.Env = os.Stderr, append(os.Environ(), environ...)
	events, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	err = report.read(events)
	var failed *exec.ExitError
	if ended := cmd.Wait(); !errors.As(ended, &failed) {
		err = errors.Join(err, ended)
	}
	return report.close() && err == nil && failed == nil, err
}
