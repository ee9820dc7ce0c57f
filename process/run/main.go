package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	fiberlog "github.com/gofiber/fiber/v2/log"

	"partnerdeposits/process/config"
	"partnerdeposits/process/version"
)

const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2
)

type Command struct {
	Name string

	// GCPercent is by how many percent the heap may grow between two collections, as in GOGC, which has precedence.
	GCPercent int

	// Build returns the process, whose parts have not started yet.
	Build func(ctx context.Context, cfg config.Config, log Log) (Process, error)

	// Healthcheck returns the state of the running process, or why it is not ready.
	Healthcheck func(ctx context.Context, environ []string) (state string, err error)
}

// Main runs a process of the service until a signal, whatever the arguments are, for programs that test the
// service.
func Main(gcPercent int, build func(ctx context.Context, cfg config.Config, log Log) (Process, error)) int {
	return Command{GCPercent: gcPercent, Build: build}.serve(os.Environ(), os.Stderr)
}

func (c Command) Main() int { return c.main(os.Args[1:], os.Environ(), os.Stdout, os.Stderr) }

func (c Command) main(args, environ []string, stdout, stderr io.Writer) int {
	switch {
	case len(args) == 0:
		return c.serve(environ, stderr)
	case slices.Equal(args, []string{"healthcheck"}):
		return c.healthcheck(environ, stdout, stderr)
	case slices.Equal(args, []string{"--version"}):
		fmt.Fprintln(stdout, version.Read().VersionLine(c.Name))
		return ExitOK
	case slices.Equal(args, []string{"--help"}):
		fmt.Fprint(stdout, c.usage())
		return ExitOK
	}
	fmt.Fprintf(stderr, "%s: unknown arguments: %s\n%s", c.Name, strings.Join(args, " "), c.usage())
	return ExitUsage
}

func (c Command) usage() string {
	return fmt.Sprintf(`Usage: %[1]s               serve until a signal; the environment is the configuration
       %[1]s healthcheck   ask the process at METRICS_ADDR whether it takes work; exit code 0 if so, else 1
       %[1]s --version     print the version of this binary
`, c.Name)
}

// healthcheck prints the running process's state and returns 0 or 1, the only codes that container engines know.
func (c Command) healthcheck(environ []string, stdout, stderr io.Writer) int {
	state, err := c.Healthcheck(context.Background(), environ)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return ExitFailure
	}
	fmt.Fprintln(stdout, state)
	return ExitOK
}

func (c Command) serve(environ []string, stderr io.Writer) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(c.GCPercent)
	}
	cfg, err := config.Load(environ, config.RequiredForService)
	if err != nil {
		return PrintFailure(stderr, err)
	}
	var delay atomic.Int64
	ctx, hurry, stop := signals(&delay)
	defer stop()
	// If the log shipper ends, writes to the pipe fail, but the service must not end.
	signal.Ignore(syscall.SIGPIPE)
	log := NewLog(stderr, cfg)
	defer log.Close()
	RedirectLibraryLogs(log.Logger)
	WarnAboutSettings(log.Logger, environ, cfg)
	process, err := c.Build(ctx, cfg, log)
	if err != nil {
		return PrintFailure(log.Lines, err)
	}
	process.Hurry = hurry
	delay.Store(int64(process.DrainDelay))
	if err := process.Run(ctx); err != nil {
		return PrintFailure(log.Lines, err)
	}
	return ExitOK
}

// WarnAboutSettings logs warnings about settings that are probably mistakes: misspelt names, and retries without a
// wait.
func WarnAboutSettings(log *slog.Logger, environ []string, cfg config.Config) {
	for _, m := range config.FindMisspellings(environ) {
		log.Warn("an environment variable is no setting and has no effect; is its name misspelt?", "name", m.Name,
			"nearest", m.Nearest)
	}
	if cfg.RetriesWithoutWait() {
		log.Warn(
			"WEBHOOK_RETRY_SCHEDULE has a wait of 0s after the first: a failed attempt is repeated at once")
	}
}

func PrintFailure(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, err)
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		return ExitUsage
	}
	return ExitFailure
}

// RedirectLibraryLogs sends the lines of the standard logger and of fiber to log at level debug. net/http logs
// every violation of HTTP by an endpoint there.
func RedirectLibraryLogs(log *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(log)
	fiberlog.SetOutput(slog.NewLogLogger(log.Handler(), slog.LevelDebug).Writer())
}
