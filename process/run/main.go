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

	"partnerdeposits/process/config"
)

// Exit codes of every command.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 2 // wrong configuration or wrong arguments
)

// Main runs a service until a signal: the environment gives the configuration, build gives the parts. gcPercent is how
// far the heap grows between two collections, in percent of the live data; the variable GOGC has precedence. Main
// returns the exit code.
func Main(gcPercent int, build func(ctx context.Context, cfg config.Config, log *slog.Logger) (Process, error)) int {
	return main(gcPercent, os.Environ(), os.Stderr, build)
}

func main(gcPercent int, environ []string, stderr io.Writer,
	build func(ctx context.Context, cfg config.Config, log *slog.Logger) (Process, error)) int {
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
