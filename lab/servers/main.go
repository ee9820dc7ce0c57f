// Command servers runs a command beside a Postgres that all its test binaries share (package pgtest), with every
// migration applied to a template database: a server and its migrations cost each binary more than many a test.
//
//	go run ./lab/servers go test ./...
//
// A Redis is not shared: its channels and scripts reach beyond the databases that tests are given.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"partnerdeposits/lab/pgtest"
)

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
	}
	os.Exit(status)
}

// run returns the exit status of the command. Ctrl-C reaches the command too, which ends first.
func run(command []string) (int, error) {
	if len(command) == 0 {
		return 2, errors.New("name a command to run")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	environ, end, err := pgtest.Share(ctx)
	if err != nil {
		return 1, err
	}
	defer end()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the command is the caller's
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), environ...)
	err = cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return max(failed.ExitCode(), 1), nil
	}
	return 0, err
}
