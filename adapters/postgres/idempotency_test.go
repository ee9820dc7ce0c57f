package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/portstest"
	ports "partnerdeposits/ports/platform"
)

func freshKey() ports.IdempotencyKey {
	return ports.IdempotencyKey{Owner: portstest.NewID(), Route: "POST /deposits", Key: uuid.New(),
		Fingerprint: [32]byte{1}}
}

func answerOf(k ports.IdempotencyKey, at time.Time) ports.StoredResponse {
	return ports.StoredResponse{Fingerprint: k.Fingerprint, Code: 201, Body: []byte(`{"data":{"id":"dep_1"}}`),
		CreatedAt: at}
}

// others are keys that differ from k in a single field.
func others(k ports.IdempotencyKey) map[string]ports.IdempotencyKey {
	partner, route, key := k, k, k
	partner.Owner, route.Route, key.Key = portstest.NewID(), "POST /clients", uuid.New()
	return map[string]ports.IdempotencyKey{"another partner": partner, "another route": route, "another key": key}
}

func (w *pooledStore) claim(k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	return w.claimIn(w.t.Context(), k, now)
}

func (w *pooledStore) claimIn(ctx context.Context, k ports.IdempotencyKey,
	now time.Time) (got *ports.StoredResponse, err error) {
	err = w.WithinTx(ctx, func(ctx context.Context) (err error) {
		got, err = w.Idempotency.ClaimKey(ctx, k, now)
		return err
	})
	return got, err
}

func (w *pooledStore) store(k ports.IdempotencyKey, r ports.StoredResponse) {
	w.t.Helper()
	w.do(func(ctx context.Context, repos *postgres.Store) error {
		if _, err := repos.Idempotency.ClaimKey(ctx, k, r.CreatedAt); err != nil {
			return err
		}
		return repos.Idempotency.StoreResponse(ctx, k, r)
	})
}

func TestIdempotency_Stored_IsReplayedToTheByteForADay(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	k := freshKey()
	want := answerOf(k, at0)
	w.store(k, want)
	for _, now := range []time.Time{at0, at0.Add(ports.IdempotencyWindow - time.Microsecond)} {
		got, err := w.claim(k, now)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(&want, got))
	}
	for name, other := range others(k) {
		got, err := w.claim(other, at0)
		require.NoError(t, err)
		require.Nil(t, got, name)
	}
}

// The row of a form is that of earlier versions: an older process replays it, and the column takes successes alone.
func TestIdempotency_AResponseWithoutACode_IsStoredAsBefore(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	k := freshKey()
	r := answerOf(k, at0)
	r.Code = 0
	w.store(k, r)
	got, err := w.claim(k, at0)
	require.NoError(t, err)
	require.Equal(t, 200, got.Code)
	require.Equal(t, r.Body, got.Body)
}

func TestIdempotency_AfterADay_TheKeyIsFreeAndTakesTheNewAnswer(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	k := freshKey()
	w.store(k, answerOf(k, at0))
	later := at0.Add(ports.IdempotencyWindow)
	got, err := w.claim(k, later)
	require.NoError(t, err)
	require.Nil(t, got)
	k.Fingerprint = [32]byte{2}
	again := answerOf(k, later)
	again.Body = []byte(`{"data":{"id":"dep_2"}}`)
	w.store(k, again)
	got, err = w.claim(k, later)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&again, got))
}

func TestIdempotency_HeldByAnother_IsInUseWithoutWaiting(t *testing.T) {
	t.Parallel()
	w := alone(t)
	k := freshKey()
	w.do(func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Idempotency.ClaimKey(ctx, k, at0)
		require.NoError(t, err)
		_, err = w.claimIn(t.Context(), k, at0)
		require.ErrorIs(t, err, ports.ErrIdempotencyKeyInUse)
		for name, other := range others(k) {
			_, err = w.claimIn(t.Context(), other, at0)
			require.NoError(t, err, name)
		}
		return nil
	})
}

func TestIdempotency_HeldByAnother_AStoredResponseIsStillReplayed(t *testing.T) {
	t.Parallel()
	w := alone(t)
	k := freshKey()
	want := answerOf(k, at0)
	w.store(k, want)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Idempotency.ClaimKey(ctx, k, at0)
		require.NoError(t, err)
		got, err := w.claimIn(t.Context(), k, at0)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(&want, got))
		_, err = w.claimIn(t.Context(), k, at0.Add(ports.IdempotencyWindow))
		require.ErrorIs(t, err, ports.ErrIdempotencyKeyInUse, "the stored response has expired")
		return nil
	})
}

func TestIdempotency_StoredOverALivingResponse_NothingIsCommitted(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	k, p := freshKey(), w.partner()
	want := answerOf(k, at0)
	w.store(k, want)
	second := answerOf(k, at0.Add(ports.IdempotencyWindow-time.Microsecond))
	second.Body = []byte(`{"data":{"id":"dep_2"}}`)
	require.Error(t, w.try(func(ctx context.Context, r *postgres.Store) error {
		require.NoError(t, r.Subscriptions.Insert(ctx, newSubscription(p.ID, at0), "svc_whsec_a"))
		return r.Idempotency.StoreResponse(ctx, k, second)
	}))
	got, err := w.claim(k, at0)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&want, got))
	made, err := w.Subscriptions.Subscriptions(t.Context(), p.ID, ports.Page{Limit: 100})
	require.NoError(t, err)
	require.Empty(t, made.Items)
}

func TestIdempotency_DeleteExpired_TakesAsManyAsAsked(t *testing.T) {
	t.Parallel()
	w := alone(t)
	fresh := freshKey()
	w.store(fresh, answerOf(fresh, at0))
	for range 3 {
		k := freshKey()
		w.store(k, answerOf(k, at0.Add(-ports.IdempotencyWindow)))
	}
	for _, want := range []int{2, 1, 0} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			n, err := r.Idempotency.DeleteExpired(ctx, at0, 2)
			require.Equal(t, want, n)
			return err
		})
	}
	got, err := w.claim(fresh, at0)
	require.NoError(t, err)
	require.NotNil(t, got)
}
