// Command dev runs the sandbox, and rebuilds and restarts it when a source file changes, for `make dev`. It is started
// in the root of the module and downloads nothing.
//
// Postgres and Redis belong to dev and keep their data over restarts of the sandbox. A migration that has run is not
// run again after an edit: end dev and start it anew.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"partnerdeposits/cmd/run"
	"partnerdeposits/lab/backing"
)

func main() {
	ctx, stop := run.Signals()
	code := run.ExitOK
	if err := dev(ctx); err != nil && ctx.Err() == nil {
		code = run.Fail(os.Stderr, err)
	}
	stop()
	os.Exit(code)
}

func dev(ctx context.Context) (err error) {
	binaries, err := os.MkdirTemp("", "partnerdeposits-dev-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(binaries)) }()
	say := func(format string, args ...any) { fmt.Printf("# "+format+"\n", args...) }
	services, err := backing.Start(ctx, backing.Options{Purpose: backing.Sandbox, AllowMiniredis: true, Logf: say})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, services.Close()) }()
	const pollInterval = 300 * time.Millisecond
	l := loop{
		root: ".", command: "./cmd/sandbox", binaries: binaries, out: os.Stdout, interval: pollInterval,
		environ:    append(os.Environ(), "DATABASE_URL="+services.PostgresURL, "REDIS_URL="+services.RedisURL),
		generators: generators,
	}
	return l.run(ctx)
}
