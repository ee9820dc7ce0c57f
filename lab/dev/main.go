// Command dev runs Postgres, Redis and air (.air.toml), which rebuilds and restarts the sandbox after each edit,
// for `make dev`. An edited migration that has already run needs a new start of dev.
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
	// In a process group of its own, air gets no Ctrl-C: this program ends it.
	air.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	air.Cancel = func() error { return air.Process.Signal(os.Interrupt) }
	return air.Run()
}
