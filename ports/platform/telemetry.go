package platform

import (
	"context"
	"strconv"
	"strings"
)

// JobMetrics counts the rounds of jobs that run by the clock (metrics.md, "Names").
type JobMetrics interface {
	// Ran counts a round that ended now. succeeded is false after an error or a panic.
	Ran(job string, succeeded bool)
}

// MailMetrics counts attempts to send a mail (metrics.md, "Names").
type MailMetrics interface {
	// Attempted counts an attempt that ended. sent tells whether the mail server took the mail.
	Attempted(sent bool)
}

// TraceIDOf is the id of the trace that a W3C traceparent names; "" for another text.
func TraceIDOf(traceParent string) string {
	parts := strings.Split(traceParent, "-")
	if len(parts) != 4 {
		return ""
	}
	return parts[1]
}

// RecordedTraceOf is the id of the trace that a W3C traceparent names, if the flags say that it is recorded; else "".
func RecordedTraceOf(traceParent string) string {
	flags, err := strconv.ParseUint(traceParent[strings.LastIndexByte(traceParent, '-')+1:], 16, 8)
	if err != nil || flags&1 == 0 {
		return ""
	}
	return TraceIDOf(traceParent)
}

type requestIDKey struct{}

// WithRequestID returns a context that belongs to a request, so that log lines can name the request.
func WithRequestID(ctx context.Context, requestID string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, requestID)
}

// RequestIDOf returns the id of the request that ctx belongs to; "" outside a request.
func RequestIDOf(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey{}).(string)
	return s
}
