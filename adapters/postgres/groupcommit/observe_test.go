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

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/postgres/groupcommit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

// roundTrips counts the batches and the single queries that a pool sends.
type roundTrips struct{ sent atomic.Int64 }

func (r *roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.sent.Add(1)
	return ctx
}
func (r *roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.sent.Add(1)
	return ctx
}
func (r *roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (r *roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// A lone change costs two round trips: its reads, and its writes with COMMIT.
func TestApply_Alone_TakesTwoRoundTrips(t *testing.T) {
	t.Parallel()
	counted := &roundTrips{}
	pool := storetest.Pool(t, pgtest.URL(t), postgres.PoolOptions{Tracer: counted})
	store := storetest.Over(t, pool, postgres.Options{})
	b := &fixture{t: t, store: store, pool: pool, origin: storetest.Origin(t, store)}
	changes := groupcommit.New(pool, secretstest.New(t), groupcommit.Options{})
	key := ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}}
	create := keyed(key, insert(b.draft()))
	create.Needs.Link = ports.AccountLink{PartnerID: b.origin.PartnerID, AccountID: b.origin.AccountID}
	require.NoError(t, changes.Apply(t.Context(), create))
	depositID := b.deposits(1)[0]
	before := counted.sent.Load()
	require.NoError(t, changes.Apply(t.Context(), cancel(depositID)))
	require.EqualValues(t, 2, counted.sent.Load()-before)
}

func insertClient(t *testing.T, b *fixture) id.ID {
	t.Helper()
	c := tenant.Client{ID: portstest.NewID(), AccountID: b.origin.AccountID, PartnerID: b.origin.PartnerID,
		Person: tenant.Person{Email: "t@example.com", FirstName: "T", LastName: "T"}, CreatedAt: at0}
	storetest.Do(t, b.store, func(ctx context.Context, r *postgres.Store) error { return r.Clients.Insert(ctx, c) })
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

	var requests []oteltrace.TraceID
	traced := &fixture{t: t, store: b.store, pool: b.pool, bell: b.bell, origin: b.origin, Changes: b.Changes}
	var contexts []context.Context
	for range ids {
		ctx, span := provider.Tracer("test").Start(t.Context(), "request")
		contexts, requests = append(contexts, ctx), append(requests, span.SpanContext().TraceID())
	}
	for _, err := range traced.applyTogetherIn(contexts, cancel(ids[0]), cancel(ids[1])) {
		require.NoError(t, err)
	}
	var linked []oteltrace.TraceID
	for _, span := range recorder.Ended() {
		if span.Name() == "group commit" && len(span.Links()) == len(ids) {
			for _, link := range span.Links() {
				linked = append(linked, link.SpanContext.TraceID())
			}
		}
	}
	require.ElementsMatch(t, requests, linked)
}
