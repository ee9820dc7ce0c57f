package groupcommit

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// startSpan starts the span of a group and links the span to the span of every request in the group. A group belongs to
// several traces, so no request is the parent. When no request is traced, startSpan starts no span.
func startSpan(ctx context.Context, changes []*pending) (context.Context, func()) {
	var links []trace.Link
	for _, p := range changes {
		if request := trace.SpanContextFromContext(p.ctx); request.IsValid() {
			links = append(links, trace.Link{SpanContext: request})
		}
	}
	if len(links) == 0 {
		return ctx, func() {}
	}
	ctx, span := otel.Tracer("partnerdeposits/groupcommit").Start(ctx, "group commit", trace.WithLinks(links...))
	return ctx, func() { span.End() }
}
