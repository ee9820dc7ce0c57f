package pg

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// StartChildSpan starts a trace span below that of ctx, if ctx is traced.
func StartChildSpan(ctx context.Context, tracer, name string) (context.Context, func()) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, func() {}
	}
	ctx, span := otel.Tracer(tracer).Start(ctx, name)
	return ctx, func() { span.End() }
}

// TraceParent returns the span of ctx as a W3C traceparent of 55 characters; "" when ctx is not traced.
func TraceParent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// StartBatchSpan starts the trace span of a batch, linked to every traced caller's; none if no caller is
// traced.
func StartBatchSpan[T any](ctx context.Context, tracer, name string, callers []T,
	contextOf func(T) context.Context) (context.Context, func()) {
	var links []trace.Link
	for _, c := range callers {
		if request := trace.SpanContextFromContext(contextOf(c)); request.IsValid() {
			links = append(links, trace.Link{SpanContext: request})
		}
	}
	if len(links) == 0 {
		return ctx, func() {}
	}
	ctx, span := otel.Tracer(tracer).Start(ctx, name, trace.WithLinks(links...))
	return ctx, func() { span.End() }
}
