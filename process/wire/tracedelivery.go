package wire

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
	"partnerdeposits/process/config"
)

func traced(cfg config.Config) bool { return cfg.TracesEndpoint != "" }

// traceDeliveries adds trace spans to the dispatcher's outbox reader, queue and sender (ADR 0028). Spans contain
// ids, names and results, and never a URL, a body or an address.
func traceDeliveries(d dispatch.Deps) dispatch.Deps {
	tracer := otel.Tracer("partnerdeposits/dispatch")
	d.Relay = tracedRelay{d.Relay, tracer}
	d.Queue = tracedQueue{d.Queue, tracer}
	d.Sender = tracedSender{d.Sender, tracer}
	return d
}

// below returns a context whose parent span is that of a W3C traceparent; ctx itself if traceParent is "".
func below(ctx context.Context, traceParent string) context.Context {
	if traceParent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceParent})
}

// parentOf returns the current span as a W3C traceparent.
func parentOf(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// tracedRelay records a span for each event of which the relay makes deliveries, in the trace of the change that
// caused it.
type tracedRelay struct {
	webhookports.RelayStore
	tracer trace.Tracer
}

var errPlannedAgain = errors.New("the batch was planned again")

// Relay turns a batch of events into deliveries, and records the events' spans.
func (r tracedRelay) Relay(ctx context.Context, limit int, lease time.Duration,
	plan webhookports.PlanDeliveriesFunc) (int, []webhookports.Claim, error) {
	begin := time.Now()
	var spans []trace.Span
	relayed, claims, err := r.RelayStore.Relay(ctx, limit, lease,
		func(events []ports.Event, subscriptions []webhookports.Subscription) []webhookports.Delivery {
			endAll(spans, errPlannedAgain)
			var parents map[id.ID]string
			spans, parents = r.begin(ctx, events, begin)
			planned := plan(events, subscriptions)
			for i := range planned {
				if parent, traced := parents[planned[i].EventID]; traced {
					planned[i].TraceParent = parent
				}
			}
			return planned
		})
	endAll(spans, err)
	return relayed, claims, err
}

func (r tracedRelay) begin(ctx context.Context, events []ports.Event,
	at time.Time) (spans []trace.Span, parents map[id.ID]string) {
	parents = map[id.ID]string{}
	for i := range events {
		e := &events[i]
		if e.TraceParent == "" {
			continue
		}
		under, span := r.tracer.Start(below(ctx, e.TraceParent), "relay", trace.WithSpanKind(trace.SpanKindProducer),
			trace.WithTimestamp(at),
			trace.WithAttributes(attribute.String("event.id", id.Event.Of(e.ID)), attribute.String("event.name", string(e.Name)),
				attribute.Int("batch", len(events))))
		spans, parents[e.ID] = append(spans, span), parentOf(under)
	}
	return spans, parents
}

func endAll(spans []trace.Span, err error) {
	for _, span := range spans {
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// tracedQueue records a span for each job taken from the queue. A job carries deliveries of several traces, so its
// span is in a trace of its own, linked to each of them.
type tracedQueue struct {
	webhookports.JobQueue
	tracer trace.Tracer
}

type jobKey struct{}

// jobBegin returns when the present job began; zero outside a job.
func jobBegin(ctx context.Context) time.Time {
	begin, _ := ctx.Value(jobKey{}).(time.Time)
	return begin
}

func (q tracedQueue) Serve(ctx context.Context, concurrency int,
	handle func(context.Context, webhookports.DeliveryJob)) error {
	return q.JobQueue.Serve(ctx, concurrency, func(ctx context.Context, job webhookports.DeliveryJob) {
		begin := time.Now()
		ctx, span := q.tracer.Start(ctx, "job", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(begin),
			trace.WithAttributes(attribute.Bool("urgent", job.Urgent), attribute.Int("deliveries", len(job.Claims))))
		defer span.End()
		handle(context.WithValue(ctx, jobKey{}, begin), job)
	})
}

// tracedSender records two spans for an attempt, in the trace of the change: "deliver", from the beginning of the
// job to the response, and below it "POST", for the request alone.
type tracedSender struct {
	webhookports.Sender
	tracer trace.Tracer
}

// Post makes one attempt to deliver a webhook and records its spans. The receiver gets no header of the trace.
func (s tracedSender) Post(ctx context.Context, d *webhookports.Delivery, signedAt time.Time) webhook.Attempt {
	job, options := trace.SpanFromContext(ctx),
		[]trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
			attribute.String("delivery.id", id.Delivery.Of(d.DeliveryID)),
			attribute.String("subscription.id", id.Subscription.Of(d.SubscriptionID)),
			attribute.String("event.name", string(d.Event)), attribute.Int("attempt", d.Attempts+1),
			attribute.Bool("test", d.Test))}
	if begin := jobBegin(ctx); !begin.IsZero() {
		options = append(options, trace.WithTimestamp(begin))
	}
	under := below(ctx, d.TraceParent)
	if d.TraceParent != "" && job.SpanContext().IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: job.SpanContext()}))
	}
	under, deliver := s.tracer.Start(under, "deliver", options...)
	defer deliver.End()
	if d.TraceParent != "" {
		job.AddLink(trace.Link{SpanContext: deliver.SpanContext()})
	}
	under, post := s.tracer.Start(under, "POST", trace.WithSpanKind(trace.SpanKindClient))
	defer post.End()
	attempt := s.Sender.Post(under, d, signedAt)
	post.SetAttributes(attribute.String("result", string(attempt.Result)))
	if attempt.ResponseStatus > 0 {
		post.SetAttributes(attribute.Int("http.response.status_code", attempt.ResponseStatus))
	}
	if !attempt.OK() {
		post.SetStatus(codes.Error, "")
		deliver.SetStatus(codes.Error, "")
	}
	return attempt
}
