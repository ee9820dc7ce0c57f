package groupcommit_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
	"partnerdeposits/ports/portstest"

	"partnerdeposits/adapters/postgres/storetest"
)

// roundTrips counts the batches that a pool sends.
type roundTrips struct{ batches atomic.Int64 }

func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (r *roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.batches.Add(1)
	return ctx
}
func (r *roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (r *roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func insertClient(t *testing.T, b *fixture) id.ID {
	t.Helper()
	c := tenant.Client{ID: portstest.NewID(), AccountID: b.origin.AccountID, PartnerID: b.origin.PartnerID,
		Person: tenant.Person{Email: "t@example.com", FirstName: "T", LastName: "T"}, CreatedAt: at0}
	storetest.Do(t, b.store, func(ctx context.Context, r ports.Repositories) error { return r.Clients.Insert(ctx, c) })
	return c.ID
}

// This test replaces the global tracer provider, so no other test of the package may do the same.
func TestApply_Traced_LinksTheGroupToEveryRequestInIt(t *testing.T) {
	b := setup(t)
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	ids := b.deposits(2)

	var requests []oteltrace.SpanContext
	traced := &fixture{t: t, store: b.store, pool: b.pool, bell: b.bell, origin: b.origin, Changes: b.Changes}
	var contexts []context.Context
	for range ids {
		ctx, span := provider.Tracer("test").Start(t.Context(), "request")
		contexts, requests = append(contexts, ctx), append(requests, span.SpanContext())
	}
	for _, err := range traced.applyTogetherIn(contexts, cancel(ids[0]), cancel(ids[1])) {
		require.NoError(t, err)
	}
	var linked []oteltrace.SpanContext
	for _, span := range recorder.Ended() {
		if span.Name() == "group commit" && len(span.Links()) == len(ids) {
			for _, link := range span.Links() {
				linked = append(linked, link.SpanContext)
			}
		}
	}
	require.ElementsMatch(t, requests, linked)
}
