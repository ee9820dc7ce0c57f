package wire

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
)

// lastExport bounds the export of the last spans at the end of a process.
const lastExport = 3 * time.Second

// tracing returns the part that exports spans and stops after all others. Spans contain routes, but no arguments of
// SQL or Redis commands.
func tracing(ctx context.Context, cfg config.Config, log *slog.Logger, process string) (run.Part, error) {
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(cfg.TracesEndpoint, "/")+"/v1/traces"))
	if err != nil {
		return run.Part{}, err
	}
	provider := trace.NewTracerProvider(
		trace.WithBatcher(exporter),
		trace.WithSampler(withoutPollsSampler{samplerOf(cfg)}),
		trace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "partnerdeposits-"+serviceName(process)),
			attribute.String("deployment.environment", string(cfg.Environment)),
		)),
	)
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces cannot be exported", "error", err) }))
	return run.Part{Name: "traces", Stop: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, lastExport)
		defer cancel()
		return provider.Shutdown(ctx)
	}}, nil
}

func samplerOf(cfg config.Config) trace.Sampler {
	name, parentBased := strings.CutPrefix(cfg.TracesSampler, "parentbased_")
	root := trace.AlwaysSample()
	switch name {
	case "always_off":
		root = trace.NeverSample()
	case "traceidratio":
		root = trace.TraceIDRatioBased(cfg.TraceSampleRatio())
	}
	if parentBased {
		return trace.ParentBased(root)
	}
	return root
}

// serviceName returns the name of a process's command in traces, which may differ from that of its pool.
func serviceName(process string) string {
	if process == "schedules" {
		return "dispatcher"
	}
	return process
}

// withoutPollsSampler drops commands to Postgres and Redis outside any request, job or batch. The loops of an idle
// process would otherwise send thousands of traces an hour that show nothing.
type withoutPollsSampler struct{ trace.Sampler }

// ShouldSample drops Postgres and Redis commands without a parent, and passes other spans to the configured
// sampler.
func (s withoutPollsSampler) ShouldSample(p trace.SamplingParameters) trace.SamplingResult {
	if p.Kind == oteltrace.SpanKindClient && !oteltrace.SpanContextFromContext(p.ParentContext).IsValid() {
		return trace.SamplingResult{Decision: trace.Drop}
	}
	return s.Sampler.ShouldSample(p)
}

func queryTracer(cfg config.Config) pgx.QueryTracer {
	if !traced(cfg) {
		return nil
	}
	return otelpgx.NewTracer()
}

func traceRedis(cfg config.Config, client redis.UniversalClient) error {
	if !traced(cfg) {
		return nil
	}
	return redisotel.InstrumentTracing(client, redisotel.WithDBStatement(false))
}
