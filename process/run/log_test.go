package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
)

func TestLogger_LineOfARequest_NamesTheRequestAndItsTraceOnce(t *testing.T) {
	t.Parallel()
	traced := func(ctx context.Context) context.Context {
		return trace.ContextWithSpanContext(ctx,
			trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 7}, SpanID: trace.SpanID{7: 1}}))
	}
	requested := func(ctx context.Context) context.Context { return ports.WithRequestID(ctx, "req_1") }
	const traceID = "00000000000000000000000000000007"
	for name, test := range map[string]struct {
		ctx   context.Context
		attrs []any
		want  map[string]any
	}{
		"outside a request": {t.Context(), []any{"a", "b"}, map[string]any{"a": "b"}},
		"in a request":      {requested(t.Context()), nil, map[string]any{"request_id": "req_1"}},
		"in a trace":        {traced(t.Context()), nil, map[string]any{"trace_id": traceID}},
		"in both": {traced(requested(t.Context())), []any{"a", "b"},
			map[string]any{"a": "b", "request_id": "req_1", "trace_id": traceID}},
		"that is named already": {requested(t.Context()), []any{"request_id", "req_1"},
			map[string]any{"request_id": "req_1"}},
	} {
		var out bytes.Buffer
		log := run.NewLogger(&out, config.Config{LogLevel: slog.LevelInfo})
		log.With("always", true).InfoContext(test.ctx, "said", test.attrs...)
		var got map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &got), name)
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("said")), name)
		require.LessOrEqual(t, bytes.Count(out.Bytes(), []byte("request_id")), 1, name)
		for _, key := range []string{"time", "level", "msg", "always"} {
			require.Contains(t, got, key, name)
			delete(got, key)
		}
		require.Equal(t, test.want, got, name)
	}
}
