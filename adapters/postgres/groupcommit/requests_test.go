package groupcommit_test

import (
	"context"
	"errors"
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
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/secretstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

// keyed adds an idempotency key and a stored response to a change, as a request with that key does.
func keyed(key ports.IdempotencyKey, change ports.GroupCommitChange) ports.GroupCommitChange {
	decide := change.Decide
	change.Needs.Key, change.Needs.Now = &key, at0
	change.Decide = func(found ports.FoundRows) (ports.RowsToWrite, error) {
		if found.Stored != nil {
			return ports.RowsToWrite{}, nil
		}
		writes, err := decide(found)
		writes.Response = &ports.StoredResponse{Fingerprint: key.Fingerprint, Code: 200, Body: []byte("{}"), CreatedAt: at0}
		return writes, err
	}
	return change
}

// aKey is a key of the partner.
func (b *fixture) aKey() ports.IdempotencyKey {
	return ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}, Fingerprint: [32]byte{2}}
}

func TestApply_SameKeyTwice_OneChangeHoldsTheKey(t *testing.T) {
	b := setup(t)
	ids, key := b.deposits(2), b.aKey()
	errs := b.applyTogether(keyed(key, cancel(ids[0])), keyed(key, cancel(ids[1])))
	require.NotEqual(t, errs[0] == nil, errs[1] == nil)
	require.ErrorIs(t, errors.Join(errs...), ports.ErrIdempotencyKeyInUse)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM outbox`))
	require.Equal(t, []error{nil}, b.applyTogether(keyed(key, cancel(ids[0]))), "the key has a response now")
	require.Equal(t, 1, b.count(`SELECT count(*) FROM outbox`))
}

// Repeats find the response whoever holds the key: a repeat in the same group, or one in another transaction.
func TestApply_ManyRepeatsOfAnAnsweredRequest_AllFindTheResponse(t *testing.T) {
	b := setup(t)
	depositID, key := b.deposits(1)[0], b.aKey()
	require.NoError(t, b.Apply(t.Context(), keyed(key, cancel(depositID))))
	var found atomic.Int64
	repeat := ports.GroupCommitChange{Needs: ports.RowsToRead{Key: &key, Now: at0, Deposit: depositID},
		Decide: func(f ports.FoundRows) (ports.RowsToWrite, error) {
			if f.Stored != nil && string(f.Stored.Body) == "{}" {
				found.Add(1)
			}
			return ports.RowsToWrite{}, nil
		}}
	repeats := []ports.GroupCommitChange{repeat, repeat, repeat}
	require.NoError(t, errors.Join(b.applyTogether(repeats...)...))
	storetest.RunInTransaction(t, b.store, func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Idempotency.ClaimKey(ctx, key, at0)
		require.NoError(t, err)
		require.NoError(t, errors.Join(b.applyTogether(repeats...)...))
		return nil
	})
	require.EqualValues(t, 2*len(repeats), found.Load())
}

// The lock of a key is not the only guard: a response that another transaction has stored meanwhile undoes the group.
func TestApply_AResponseWasStoredPastTheLock_TheEffectIsUndoneAndTheResponseFound(t *testing.T) {
	b := setup(t)
	ids, key := b.deposits(2), b.aKey()
	first := ports.StoredResponse{Fingerprint: key.Fingerprint, Code: 200, Body: []byte("first"), CreatedAt: at0}
	second := keyed(key, cancel(ids[0]))
	decide := second.Decide
	var found []*ports.StoredResponse
	second.Decide = func(f ports.FoundRows) (ports.RowsToWrite, error) {
		if found = append(found, f.Stored); len(found) == 1 {
			storetest.RunInTransaction(t, b.store,
				func(ctx context.Context, r *postgres.Store) error {
					return r.Idempotency.StoreResponse(ctx, key, first)
				})
		}
		return decide(f)
	}
	require.NoError(t, errors.Join(b.applyTogether(second, cancel(ids[1]))...))
	require.Nil(t, found[0])
	require.Equal(t, "first", string(found[len(found)-1].Body))
	require.Equal(t, deposit.Pending, b.status(ids[0]))
	require.Equal(t, deposit.Cancelled, b.status(ids[1]), "the other change of the group is not concerned")
}

func TestApply_AKeyOfAnotherTransaction_IsInUse(t *testing.T) {
	b := setup(t)
	depositID, key := b.deposits(1)[0], b.aKey()
	storetest.RunInTransaction(t, b.store, func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Idempotency.ClaimKey(ctx, key, at0)
		require.NoError(t, err)
		require.ErrorIs(t, b.Apply(ctx, keyed(key, cancel(depositID))), ports.ErrIdempotencyKeyInUse)
		return nil
	})
	require.Equal(t, deposit.Pending, b.status(depositID))
	require.NoError(t, b.Apply(t.Context(), keyed(key, cancel(depositID))))
}

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
	pool := storetest.NewPool(t, pgtest.NewDatabaseURL(t), postgres.PoolOptions{Tracer: counted})
	store := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	b := &fixture{t: t, store: store, pool: pool, origin: storetest.CreateDepositOrigin(t, store)}
	changes := groupcommit.New(pool, secretstest.NewCipher(t), groupcommit.Options{})
	key := ports.IdempotencyKey{Owner: b.origin.PartnerID, Route: "POST /x", Key: [16]byte{1}}
	create := keyed(key, insert(b.draft()))
	create.Needs.Link = ports.LinkLookupKey{PartnerID: b.origin.PartnerID, AccountID: b.origin.AccountID}
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
	storetest.RunInTransaction(t, b.store, func(ctx context.Context,
		r *postgres.Store) error {
		return r.Clients.Insert(ctx, c)
	})
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
	traced := &fixture{t: t, store: b.store, pool: b.pool, bell: b.bell, origin: b.origin, Committer: b.Committer}
	var contexts []context.Context
	for range ids {
		ctx, span := provider.Tracer("test").Start(t.Context(), "request")
		contexts, requests = append(contexts, ctx), append(requests, span.SpanContext().TraceID())
	}
	require.NoError(t, errors.Join(traced.applyTogetherIn(contexts, cancel(ids[0]), cancel(ids[1]))...))
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
