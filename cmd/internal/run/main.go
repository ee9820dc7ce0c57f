package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync/atomic"

	fiberlog "github.com/gofiber/fiber/v2/log"

	"partnerdeposits/cmd/internal/config"
)

// Exit codes of every command.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2 // wrong configuration or wrong arguments
)

// gcPercent lets the heap of a process whose live data are a few megabytes grow to five times their size before a
// collection: a third less CPU under load, for some tens of megabytes. The variable GOGC has precedence.
const gcPercent = 400

// Main runs a service until a signal: the environment gives the configuration, build gives the parts. Main returns the
// exit code.
func Main(build func(ctx context.Context, cfg config.Config, log *slog.Logger) (Process, error)) int {
	return main(os.Environ(), os.Stderr, build)
}

func main(environ []string, stderr io.Writer, build func(ctx context.Context, cfg config.Config, log *slog.Logger) (Process, error)) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	cfg, err := config.Load(environ, config.Service)
	if err != nil {
		return Fail(stderr, err)
	}
	var delay atomic.Int64
	ctx, hurry, stop := signals(&delay)
	defer stop()
	log := Logger(stderr, cfg)
	AdoptLogs(log)
	process, err := build(ctx, cfg, log)
	if err != nil {
		return Fail(stderr, err)
	}
	process.Hurry = hurry
	delay.Store(int64(process.DrainDelay))
	if err := process.Run(ctx); err != nil {
		return Fail(stderr, err)
	}
	return ExitOK
}

// Fail prints err and gives its exit code.
func Fail(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, err) // no place is left to report a failed write
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		return ExitUsage
	}
	return ExitFailure
}

// AdoptLogs sends the lines of the standard logger and of fiber to log, at the debug level: net/http reports every
// violation of HTTP by an endpoint there, with bytes that the endpoint chose.
func AdoptLogs(log *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(log)
	fiberlog.SetOutput(slog.NewLogLogger(log.Handler(), slog.LevelDebug).Writer())
}
