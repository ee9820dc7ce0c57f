package groupcommit

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// startSpan begins the span of a group, linked to the span of every request in the group: a group belongs to several
// traces, so none of them is its parent. Without tracing there is nothing to link to, and no span.
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
