package redis_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/redis"
)

// The test changes the logger of all clients, so it does not run in parallel.
func TestLogTo_RefusedConnections_AreLinesForDebugging(t *testing.T) {
	defer redis.SetDriverLogger(slog.Default())
	var out bytes.Buffer
	redis.SetDriverLogger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	require.Error(t, clientOf(t, "redis://127.0.0.1:1").Ping(t.Context()).Err())
	var line struct{ Level, Msg, Said string }
	require.NoError(t, json.Unmarshal(bytes.SplitN(out.Bytes(), []byte("\n"), 2)[0], &line))
	require.Equal(t, "DEBUG", line.Level)
	require.Equal(t, "redis driver", line.Msg)
	require.Contains(t, line.Said, "connection refused")
}
