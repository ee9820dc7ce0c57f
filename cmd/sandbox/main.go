// Command sandbox runs the whole service in one process, for `make run`: Postgres and Redis from whatever the machine
// offers, the schema, http, dispatcher, a demo partner and a demo receiver. It prints a tour and leaves nothing behind.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"partnerdeposits/adapters/backing"
	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/receiver"
	"partnerdeposits/cmd/internal/run"
	"partnerdeposits/cmd/internal/wire"
	"partnerdeposits/core/partner"
)

func main() {
	ctx, stop := run.Signals()
	code := sandbox(ctx, os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// sandbox runs until ctx ends and gives the exit code.
func sandbox(ctx context.Context, environ []string, stdout, stderr io.Writer) int {
	say := func(format string, args ...any) { fmt.Fprintf(stdout, "# "+format+"\n", args...) } // a demo without a terminal
	services, err := backing.Start(ctx, backing.Options{Purpose: backing.Sandbox, AllowMiniredis: true, Logf: say})
	if err != nil {
		return ended(ctx, stderr, err)
	}
	err = serve(ctx, environ, services, stdout, stderr, say)
	if closing := services.Close(); err == nil {
		err = closing
	}
	return ended(ctx, stderr, err)
}

// ended gives the exit code; being told to stop while starting is no failure.
func ended(ctx context.Context, stderr io.Writer, err error) int {
	if err == nil || ctx.Err() != nil {
		return run.ExitOK
	}
	return run.Fail(stderr, err)
}

func serve(ctx context.Context, environ []string, services *backing.Services, stdout, stderr io.Writer, say func(string, ...any)) error {
	places, err := choosePlaces(ctx, environ, say)
	if err != nil {
		return err
	}
	defer places.close()
	cfg, err := config.Load(slices.Concat(environ, places.environ(environ), []string{
		"DATABASE_URL=" + services.PostgresURL, "REDIS_URL=" + services.RedisURL, "WEBHOOK_ALLOW_INSECURE_TARGETS=true",
	}), config.Service)
	if err != nil {
		return err
	}
	if cfg.Environment == partner.Production {
		return config.Mistakes{"SERVICE_ENV: the sandbox is not for production"}
	}
	if _, err := wire.MigrateUp(ctx, cfg); err != nil {
		return err
	}
	log := run.Logger(stderr, cfg)
	http, err := wire.HTTPOn(ctx, cfg, log, wire.Listeners{Public: places.public, Ops: places.httpMetrics})
	if err != nil {
		return err
	}
	dispatcher, err := wire.DispatcherOn(ctx, cfg, log, wire.Listeners{Ops: places.dispatcherMetrics})
	if err != nil {
		return err
	}
	demo := receiver.New(stdout)
	process := run.Process{
		Name: "sandbox", Log: log,
		Drain: func() { http.Drain(); dispatcher.Drain() },
		Parts: slices.Concat(
			[]run.Part{receiverPart(places.receiver, demo)},
			http.Parts, dispatcher.Parts,
			[]run.Part{demoPart(cfg, places, demo, log, stdout)},
		),
	}
	return process.Run(ctx)
}
