package run

import (
	"bytes"
	"encoding/json"
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

// The test changes the process's loggers, so it does not run in parallel.
func TestAdoptLogs_LinesOfLibraries_ComeOutInOurForm_ForDebuggingOnly(t *testing.T) {
	ours, flags, writer := slog.Default(), stdlog.Flags(), stdlog.Writer()
	defer func() {
		slog.SetDefault(ours)
		stdlog.SetFlags(flags)
		stdlog.SetOutput(writer)
		fiberlog.SetOutput(os.Stderr)
	}()
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var out bytes.Buffer
		AdoptLogs(Logger(&out, config.Config{LogLevel: level}))
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
