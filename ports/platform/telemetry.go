package platform

import (
	"context"
	"strconv"
	"strings"
)

// JobMetrics counts the runs of the dispatcher's scheduled jobs (metrics.md, "Names").
type JobMetrics interface {
	// CountRound counts a run of a scheduled job that ended now. succeeded is true for a run without an error, and false
	// after an error or a panic.
	CountRound(job string, succeeded bool)
}

// MailMetrics counts the attempts to send a mail (metrics.md, "Names").
type MailMetrics interface {
	// CountAttempt counts an attempt to send a mail. sent reports whether the mail server took the mail.
	CountAttempt(sent bool)
}

// TraceIDOf returns the trace id in a W3C traceparent; "" for a text of another form.
func TraceIDOf(traceParent string) string {
	parts := strings.Split(traceParent, "-")
	if len(parts) != 4 {
		return ""
	}
	return parts[1]
}

// RecordedTraceIDOf returns the trace id in a W3C traceparent if its flags mark the trace as recorded, and ""
// otherwise.
func RecordedTraceIDOf(traceParent string) string {
	flags, err := strconv.ParseUint(traceParent[strings.LastIndexByte(traceParent, '-')+1:], 16, 8)
	if err != nil || flags&1 == 0 {
		return ""
	}
	return TraceIDOf(traceParent)
}

type requestIDKey struct{}

// WithRequestID returns a context that belongs to a request, so that log lines can name the request's id.
func WithRequestID(ctx context.Context, requestID string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, requestID)
}

// RequestIDOf returns the id of the request that ctx belongs to; "" outside a request.
func RequestIDOf(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey{}).(string)
	return s
}
