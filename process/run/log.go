package run

import (
	"context"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/config"
)

type Log struct {
	*slog.Logger
	Lines *LogWriter
}

// NewLog returns a process's log, which writes to w without waiting, configured by LOG_LEVEL and LOG_FORMAT.
func NewLog(w io.Writer, cfg config.Config) Log {
	lines := NewLogWriter(w)
	return Log{NewLogger(lines, cfg), lines}
}

// lastLines is how long a process waits at its end for the log's reader.
const lastLines = 2 * time.Second

// Close waits up to lastLines for the log's reader. A log that is not read is no place to report the error.
func (l Log) Close() { _ = l.Lines.Flush(lastLines) }

// NewLogger returns a logger configured by LOG_LEVEL and LOG_FORMAT. Lines about a request contain its id and
// trace.
func NewLogger(w io.Writer, cfg config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "text" {
		return slog.New(contextHandler{slog.NewTextHandler(w, options)})
	}
	return slog.New(contextHandler{slog.NewJSONHandler(w, options)})
}

// Attributes with which log lines name their request and trace.
const (
	requestIDKey = "request_id"
	traceIDKey   = "trace_id"
)

// contextHandler is a log handler that adds the ids of the context's request and trace.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, line slog.Record) error {
	requestID, span := ports.RequestIDOf(ctx), trace.SpanContextFromContext(ctx)
	if requestID == "" && !span.HasTraceID() {
		return h.Handler.Handle(ctx, line)
	}
	line = line.Clone()
	if requestID != "" && !has(line, requestIDKey) {
		line.AddAttrs(slog.String(requestIDKey, requestID))
	}
	if span.HasTraceID() && !has(line, traceIDKey) {
		line.AddAttrs(slog.String(traceIDKey, span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}

func has(line slog.Record, key string) (found bool) {
	line.Attrs(func(a slog.Attr) bool {
		found = a.Key == key
		return !found
	})
	return found
}
