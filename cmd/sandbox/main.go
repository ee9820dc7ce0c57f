// Command sandbox runs the whole service in a single process, for `make run`: Postgres, Redis, http, dispatcher, a
// demo partner and a demo receiver. The sandbox prints a tour, and at its end removes everything that it created.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"partnerdeposits/core/partner"
	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/styleguide"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/version"
	"partnerdeposits/process/wire"
)

func main() {
	if slices.Equal(os.Args[1:], []string{"--version"}) {
		fmt.Println(version.Read().VersionLine("sandbox"))
		return
	}
	ctx, stop := run.SignalContext()
	code := sandbox(ctx, os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func sandbox(ctx context.Context, environ []string, stdout, stderr io.Writer) int {
	say := func(format string, args ...any) { fmt.Fprintf(stdout, "# "+format+"\n", args...) }
	var services *backing.PostgresAndRedis
	err := step(say, "starting Postgres and Redis", stepEvery, func() (err error) {
		services, err = backing.StartPostgresAndRedis(ctx, backing.Options{Purpose: backing.PurposeSandbox, Logf: say})
		return err
	})
	if err != nil {
		return ended(ctx, stderr, err)
	}
	err = serve(ctx, environ, services, stdout, stderr, say)
	if closing := services.Close(); err == nil {
		err = closing
	}
	return ended(ctx, stderr, err)
}

// ended returns the exit code for the error with which the sandbox ended. A signal during the start is not a
// failure.
func ended(ctx context.Context, stderr io.Writer, err error) int {
	if err == nil || ctx.Err() != nil {
		return run.ExitOK
	}
	return run.PrintFailure(stderr, err)
}

func serve(ctx context.Context, environ []string, services *backing.PostgresAndRedis, stdout, stderr io.Writer,
	say func(string, ...any)) error {
	listeners, err := openListeners(ctx, environ, say)
	if err != nil {
		return err
	}
	defer listeners.close()
	payments, paymentSettings, err := fakeStripe(ctx, environ, listeners.public.Addr(), say)
	if err != nil {
		return err
	}
	cfg, err := config.Load(slices.Concat(environ, listeners.environ(environ), paymentSettings, []string{
		"DATABASE_URL=" + services.PostgresURL, "REDIS_URL=" + services.RedisURL, "WEBHOOK_ALLOW_INSECURE_TARGETS=true",
	}), config.RequiredForService)
	if err != nil {
		return err
	}
	if cfg.Environment == partner.EnvironmentProduction {
		return config.Mistakes{"SERVICE_ENV: the sandbox is not for production"}
	}
	if err := step(say, "making the schema", stepEvery, func() error {
		_, err := wire.MigrateUp(ctx, cfg, nil)
		return err
	}); err != nil {
		return err
	}
	log := run.NewLog(stderr, cfg)
	defer log.Close()
	run.RedirectLibraryLogs(log.Logger)
	run.WarnAboutSettings(log.Logger, environ, cfg)
	http, err := wire.BuildHTTPOnListeners(ctx, cfg, log, wire.Listeners{Public: listeners.public,
		Ops: listeners.httpMetrics},
		pagesOfDevelopment(cfg))
	if err != nil {
		return err
	}
	dispatcher, err := wire.BuildDispatcherOnListeners(ctx, cfg, log, wire.Listeners{Ops: listeners.dispatcherMetrics})
	if err != nil {
		return err
	}
	say("starting the service")
	tour := demoOf(cfg, len(payments) > 0, adminLine(environ, services, paymentSettings))
	demo := receiver.New(stdout)
	process := run.Process{
		Name: "sandbox", Log: log.Logger,
		Drain: func() { http.Drain(); dispatcher.Drain() },
		Parts: slices.Concat(
			[]run.Part{receiverPart(listeners.receiver, demo)}, payments,
			http.Parts, dispatcher.Parts,
			[]run.Part{demoPart(tour, cfg, listeners, demo, log.Logger, stdout)},
		),
	}
	return process.Run(ctx)
}

// pagesOfDevelopment mounts the style guide; nil, none, where the environment is not development.
func pagesOfDevelopment(cfg config.Config) wire.PageMounter {
	if cfg.Environment != partner.EnvironmentDevelopment {
		return nil
	}
	return styleguide.MountFunc(cfg.DashboardBaseURL)
}

// adminLine returns a shell command that runs `admin doctor` against this sandbox. Addresses from the environment
// are named by their variables, since they may hold a password.
func adminLine(environ []string, services *backing.PostgresAndRedis, fake []string) string {
	line := ""
	for _, each := range []struct{ name, url string }{{"DATABASE_URL", services.PostgresURL},
		{"REDIS_URL", services.RedisURL}} {
		if isSet(environ, each.name) {
			line += each.name + "=\"$" + each.name + "\" "
		} else {
			line += each.name + "='" + each.url + "' "
		}
	}
	for _, pair := range fake {
		name, value, _ := strings.Cut(pair, "=")
		line += name + "='" + value + "' "
	}
	return line + "bin/admin doctor"
}
