package portstest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/ports"
)

func newKey() ports.IdempotencyKey {
	return ports.IdempotencyKey{PartnerID: NewID(), Route: "POST /deposits", Key: uuid.New(), Fingerprint: [32]byte{1}}
}

func answer(k ports.IdempotencyKey, at time.Time) ports.StoredResponse {
	return ports.StoredResponse{Fingerprint: k.Fingerprint, Status: 201, Body: []byte(`{"data":{"id":"dep_1"}}`), CreatedAt: at}
}

// others are keys that differ from k in a single field.
func others(k ports.IdempotencyKey) map[string]ports.IdempotencyKey {
	partner, route, key := k, k, k
	partner.PartnerID, route.Route, key.Key = NewID(), "POST /clients", uuid.New()
	return map[string]ports.IdempotencyKey{"another partner": partner, "another route": route, "another key": key}
}

func (w *world) claim(k ports.IdempotencyKey, now time.Time) (*ports.StoredResponse, error) {
	return w.claimIn(w.t.Context(), k, now)
}

func (w *world) claimIn(ctx context.Context, k ports.IdempotencyKey, now time.Time) (got *ports.StoredResponse, err error) {
	err = w.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) (err error) {
		got, err = r.Idempotency.Claim(ctx, k, now)
		return err
	})
	return got, err
}

func (w *world) store(k ports.IdempotencyKey, r ports.StoredResponse) {
	w.t.Helper()
	w.do(func(ctx context.Context, repos ports.Repositories) error {
		if _, err := repos.Idempotency.Claim(ctx, k, r.CreatedAt); err != nil {
			return err
		}
		return repos.Idempotency.Store(ctx, k, r)
	})
}

var idempotencySuite = map[string]func(*testing.T, *world){
	"Idempotency_Claim_NewKey_GoesOn": func(t *testing.T, w *world) {
		got, err := w.claim(newKey(), at0)
		require.NoError(t, err)
		require.Nil(t, got)
	},
	"Idempotency_Stored_IsReplayedToTheByteForADay": func(t *testing.T, w *world) {
		k := newKey()
		want := answer(k, at0)
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
	},
	"Idempotency_AfterADay_TheKeyIsFreeAndTakesTheNewAnswer": func(t *testing.T, w *world) {
		k := newKey()
		w.store(k, answer(k, at0))
		later := at0.Add(ports.IdempotencyWindow)
		got, err := w.claim(k, later)
		require.NoError(t, err)
		require.Nil(t, got)
		k.Fingerprint = [32]byte{2}
		again := answer(k, later)
		again.Body = []byte(`{"data":{"id":"dep_2"}}`)
		w.store(k, again)
		got, err = w.claim(k, later)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(&again, got))
	},
	"Idempotency_AnotherBody_IsToldByTheFingerprint": func(t *testing.T, w *world) {
		k := newKey()
		w.store(k, answer(k, at0))
		k.Fingerprint = [32]byte{9}
		got, err := w.claim(k, at0)
		require.NoError(t, err)
		require.Equal(t, [32]byte{1}, got.Fingerprint)
	},
	"Idempotency_RolledBack_LeavesTheKeyFree": func(t *testing.T, w *world) {
		k := newKey()
		require.ErrorIs(t, w.try(func(ctx context.Context, r ports.Repositories) error {
			_, err := r.Idempotency.Claim(ctx, k, at0)
			require.NoError(t, err)
			require.NoError(t, r.Idempotency.Store(ctx, k, answer(k, at0)))
			return errStop
		}), errStop)
		got, err := w.claim(k, at0)
		require.NoError(t, err)
		require.Nil(t, got)
	},
	"Idempotency_HeldByAnother_IsInUseWithoutWaiting": func(t *testing.T, w *world) {
		k := newKey()
		w.do(func(ctx context.Context, r ports.Repositories) error {
			_, err := r.Idempotency.Claim(ctx, k, at0)
			require.NoError(t, err)
			_, err = w.claimIn(ctx, k, at0)
			require.ErrorIs(t, err, ports.ErrKeyInUse)
			for name, other := range others(k) {
				_, err = w.claimIn(ctx, other, at0)
				require.NoError(t, err, name)
			}
			return nil
		})
	},
	"Idempotency_HeldByAnother_AStoredResponseIsStillReplayed": func(t *testing.T, w *world) {
		k := newKey()
		want := answer(k, at0)
		w.store(k, want)
		w.do(func(ctx context.Context, r ports.Repositories) error {
			_, err := r.Idempotency.Claim(ctx, k, at0)
			require.NoError(t, err)
			got, err := w.claimIn(ctx, k, at0)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(&want, got))
			_, err = w.claimIn(ctx, k, at0.Add(ports.IdempotencyWindow))
			require.ErrorIs(t, err, ports.ErrKeyInUse, "the stored response has expired")
			return nil
		})
	},
	"Idempotency_StoredOverALivingResponse_NothingIsCommitted": func(t *testing.T, w *world) {
		k, p := newKey(), w.partner()
		want := answer(k, at0)
		w.store(k, want)
		second := answer(k, at0.Add(ports.IdempotencyWindow-time.Microsecond))
		second.Body = []byte(`{"data":{"id":"dep_2"}}`)
		require.Error(t, w.try(func(ctx context.Context, r ports.Repositories) error {
			require.NoError(t, r.Subscriptions.Insert(ctx, newSubscription(p.ID, at0), "svc_whsec_a"))
			return r.Idempotency.Store(ctx, k, second)
		}))
		got, err := w.claim(k, at0)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(&want, got))
		made, err := w.Subscriptions(t.Context(), p.ID, ports.Page{Limit: 100})
		require.NoError(t, err)
		require.Empty(t, made.Items)
	},
	"Idempotency_ManyAtOnce_OneEffect": func(t *testing.T, w *world) {
		k := newKey()
		p := w.partner()
		ended := w.race(func(int) error {
			return w.try(func(ctx context.Context, r ports.Repositories) error {
				stored, err := r.Idempotency.Claim(ctx, k, at0)
				if err != nil || stored != nil {
					return err
				}
				s := newSubscription(p.ID, at0)
				if err := r.Subscriptions.Insert(ctx, s, "svc_whsec_a"); err != nil {
					return err
				}
				return r.Idempotency.Store(ctx, k, answer(k, at0))
			})
		})
		require.Equal(t, racers, ended["<nil>"]+ended[ports.ErrKeyInUse.Error()], ended)
		made, err := w.Subscriptions(t.Context(), p.ID, ports.Page{Limit: 100})
		require.NoError(t, err)
		require.Len(t, made.Items, 1)
	},
	"Idempotency_DeleteExpired_TakesAsManyAsAsked": func(t *testing.T, w *world) {
		fresh := newKey()
		w.store(fresh, answer(fresh, at0))
		for range 3 {
			k := newKey()
			w.store(k, answer(k, at0.Add(-ports.IdempotencyWindow)))
		}
		for _, want := range []int{2, 1, 0} {
			w.do(func(ctx context.Context, r ports.Repositories) error {
				n, err := r.Idempotency.DeleteExpired(ctx, at0, 2)
				require.Equal(t, want, n)
				return err
			})
		}
		got, err := w.claim(fresh, at0)
		require.NoError(t, err)
		require.NotNil(t, got)
	},
}
