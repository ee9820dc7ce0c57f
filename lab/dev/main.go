// Command dev starts Postgres and Redis and then air (.air.toml), which rebuilds and restarts the sandbox after
// each edit, for `make dev`. Both servers keep their data over restarts of the sandbox. A migration that has run
// is not run again after an edit: end dev and start it anew.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"partnerdeposits/lab/backing"
	"partnerdeposits/process/run"
)

func main() {
	ctx, stop := run.SignalContext()
	code := run.ExitOK
	if err := dev(ctx); err != nil && ctx.Err() == nil {
		code = run.PrintFailure(os.Stderr, err)
	}
	stop()
	os.Exit(code)
}

func dev(ctx context.Context) (err error) {
	say := func(format string, args ...any) { fmt.Printf("# "+format+"\n", args...) }
	services, err := backing.StartPostgresAndRedis(ctx, backing.Options{Purpose: backing.PurposeSandbox, Logf: say})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close()) }()
	air := exec.CommandContext(ctx, "air")
	air.Env = append(os.Environ(), "DATABASE_URL="+services.PostgresURL, "REDIS_URL="+services.RedisURL)
	air.Stdout, air.Stderr = os.Stdout, os.Stderr
	// Start the program air in a process group of its own, so that Ctrl-C reaches only this program, which then ends
	// air.
	air.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	air.Cancel = func() error { return air.Process.Signal(os.Interrupt) }
	return air.Run()
}
