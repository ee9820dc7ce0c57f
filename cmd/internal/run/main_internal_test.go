package run

import (
	"bytes"
	"encoding/json"
	stdlog "log" //nolint:depguard // the standard logger is under test
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/cmd/internal/config"
)

// The test changes the process's loggers, so it does not run in parallel.
func TestStandardLog_ComesOutInOurForm_ForDebuggingOnly(t *testing.T) {
	ours, flags, writer := slog.Default(), stdlog.Flags(), stdlog.Writer()
	defer func() {
		slog.SetDefault(ours)
		stdlog.SetFlags(flags)
		stdlog.SetOutput(writer)
	}()
	for level, lines := range map[slog.Level]int{slog.LevelInfo: 0, slog.LevelDebug: 1} {
		var out bytes.Buffer
		adoptStandardLog(Logger(&out, config.Config{LogLevel: level}))
		stdlog.Print("Unsolicited response")
		require.Equal(t, lines, bytes.Count(out.Bytes(), []byte("\n")), level)
		if lines == 0 {
			continue
		}
		var line map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &line))
		require.Equal(t, "DEBUG", line["level"])
		require.Equal(t, "Unsolicited response", line["msg"])
	}
}
