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

// Log is the log of a process, with the writer of its lines.
type Log struct {
	*slog.Logger
	Lines *Lines
}

// NewLog writes to w, which may block, as Logger says.
func NewLog(w io.Writer, cfg config.Config) Log {
	lines := NewLines(w)
	return Log{Logger(lines, cfg), lines}
}

// lastLines is how long the end of a process waits for the reader of its log.
const lastLines = 2 * time.Second

// Close gives the reader of the log a moment for the last lines.
func (l Log) Close() { _ = l.Lines.Flush(lastLines) } // where nobody reads, nobody can be told

// Logger writes to w as LOG_LEVEL and LOG_FORMAT say. Lines of a request name the request, and its trace if there is
// one.
func Logger(w io.Writer, cfg config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "text" {
		return slog.New(named{slog.NewTextHandler(w, options)})
	}
	return slog.New(named{slog.NewJSONHandler(w, options)})
}

// Attributes that named adds.
const (
	requestIDKey = "request_id"
	traceIDKey   = "trace_id"
)

// named adds the ids of the request and of the trace that a context belongs to.
type named struct{ slog.Handler }

// Handle implements slog.Handler. A line that names its request already is not named again.
func (h named) Handle(ctx context.Context, line slog.Record) error {
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

// WithAttrs implements slog.Handler.
func (h named) WithAttrs(attrs []slog.Attr) slog.Handler { return named{h.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (h named) WithGroup(name string) slog.Handler { return named{h.Handler.WithGroup(name)} }

func has(line slog.Record, key string) (found bool) {
	line.Attrs(func(a slog.Attr) bool {
		found = a.Key == key
		return !found
	})
	return found
}
