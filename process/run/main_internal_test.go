package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	stdlog "log" //nolint:depguard // the standard logger is under test
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	fiberlog "github.com/gofiber/fiber/v2/log"
	"github.com/stretchr/testify/require"

	"partnerdeposits/process/config"
)

// keepLoggers restores the process's loggers after a test that changes them, and so does not run in parallel.
func keepLoggers(t *testing.T) {
	ours, flags, writer := slog.Default(), stdlog.Flags(), stdlog.Writer()
	t.Cleanup(func() {
		slog.SetDefault(ours)
		stdlog.SetFlags(flags)
		stdlog.SetOutput(writer)
		fiberlog.SetOutput(os.Stderr)
	})
}

func TestServe_WarnsOfSettingsThatHardlyAnybodyMeans(t *testing.T) {
	keepLoggers(t)
	var out bytes.Buffer
	broken := Command{GCPercent: 100, Build: func(context.Context, config.Config, Log) (Process, error) {
		return Process{}, errors.New("no part")
	}}
	require.Equal(t, ExitFailure, broken.serve([]string{"DATABASE_URL=postgres://u@h/d", "REDIS_URL=redis://h:6379/0",
		"LOG_FORMAT=text", "LOG_LVEL=debug", "WEBHOOK_RETRY_SCHEDULE=5s,0s"}, &out))
	require.Contains(t, out.String(), "is its name misspelt?\" name=LOG_LVEL nearest=LOG_LEVEL\n")
	require.Contains(t, out.String(), "WEBHOOK_RETRY_SCHEDULE has a wait of 0s after the first")
}

func TestAdoptLogs_LinesOfLibraries_ComeOutInOurForm_ForDebuggingOnly(t *testing.T) {
	keepLoggers(t)
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var out bytes.Buffer
		RedirectLibraryLogs(NewLogger(&out, config.Config{LogLevel: level}))
		stdlog.Print("Unsolicited response")
		fiberlog.Warn("Unsolicited advice")
		if level == slog.LevelInfo {
			require.Empty(t, out.String())
			continue
		}
		var said []string
		for line := range bytes.Lines(out.Bytes()) {
			var entry struct{ Level, Msg string }
			require.NoError(t, json.Unmarshal(line, &entry), string(line))
			require.Equal(t, "DEBUG", entry.Level)
			said = append(said, entry.Msg)
		}
		require.Equal(t, "Unsolicited response", said[0])
		require.Contains(t, said[1], "Unsolicited advice")
	}
}

func TestMain_DoesWhatTheArgumentsAskFor(t *testing.T) {
	t.Parallel()
	asked := func(state string, err error) func(context.Context, []string) (string, error) {
		return func(_ context.Context, environ []string) (string, error) {
			require.Equal(t, []string{"A=b"}, environ)
			return state, err
		}
	}
	away := errors.New("not_ready: postgres cannot be reached")
	for name, c := range map[string]struct {
		args           []string
		health         func(context.Context, []string) (string, error)
		exit           int
		stdout, stderr string
	}{
		"healthy":     {[]string{"healthcheck"}, asked("ready", nil), 0, "^ready\n$", "^$"},
		"not healthy": {[]string{"healthcheck"}, asked("", away), 1, "^$", "^not_ready: postgres cannot be reached\n$"},
		"wrong address": {[]string{"healthcheck"}, asked("", config.Mistakes{"METRICS_ADDR: is wrong"}), 1, "^$",
			"METRICS_ADDR: is wrong"},
		"version": {[]string{"--version"}, nil, 0, `^http \S+ \(revision \S+, go1\.\S+, built \S+\)\n$`, "^$"},
		"help":    {[]string{"--help"}, nil, 0, "^Usage: http ", "^$"},
		"unknown": {[]string{"healthchek", "x"}, nil, 2, "^$", "^http: unknown arguments: healthchek x\nUsage: http "},
	} {
		var out, errs bytes.Buffer
		exit := Command{Name: "http", Healthcheck: c.health}.main(c.args, []string{"A=b"}, &out, &errs)
		require.Equal(t, c.exit, exit, name)
		require.Regexp(t, c.stdout, out.String(), name)
		require.Regexp(t, c.stderr, errs.String(), name)
	}
}

// The test sends signals to its own process, so it does not run in parallel.
func TestSignals_TheSecondWithinTheDelayIsForHurry(t *testing.T) {
	var delay atomic.Int64
	delay.Store(int64(time.Hour))
	ctx, hurry, release := signals(&delay)
	defer release()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	<-ctx.Done()
	select {
	case <-hurry:
		require.Fail(t, "one signal is not two")
	default:
	}
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	<-hurry
}
