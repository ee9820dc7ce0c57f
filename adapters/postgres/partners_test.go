package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/portstest"
	ports "partnerdeposits/ports/platform"
)

func TestPartners_Insert_IsFoundBySlugAndID(t *testing.T) {
	t.Parallel()
	w := alone(t)
	p := partner.Partner{ID: portstest.NewID(), Slug: "harbour-pms", Name: "Harbour", ContactEmail: "dev@pms.example",
		ReturnOrigins: []string{"https://pms.example"}, RateLimitPerMinute: 60, HasConnectSecret: true, CreatedAt: at0}
	w.do(func(ctx context.Context, r *postgres.Store) error {
		return r.Partners.Insert(ctx, p, "svc_cs_secret")
	})

	bySlug, err := w.Partners.PartnerBySlug(t.Context(), p.Slug)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(p, bySlug))
	byID, err := w.Partners.PartnerByID(t.Context(), p.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(p, byID))
	all, err := w.Partners.Partners(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestPartners_Insert_SlugTaken(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	err := w.try(func(ctx context.Context, r *postgres.Store) error {
		return r.Partners.Insert(ctx, partner.Partner{ID: portstest.NewID(), Slug: p.Slug, Name: "Other", CreatedAt: at0}, "")
	})
	require.ErrorIs(t, err, partner.ErrSlugTaken)
}

func TestPartners_Unknown_AreNotFound(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	_, err := w.Partners.PartnerBySlug(t.Context(), "nobody")
	require.ErrorIs(t, err, partner.ErrNotFound)
	_, err = w.Partners.PartnerByID(t.Context(), portstest.NewID())
	require.ErrorIs(t, err, partner.ErrNotFound)
	for _, change := range []func(context.Context, *postgres.Store) error{
		func(ctx context.Context, r *postgres.Store) error {
			return r.Partners.SetConnectSecret(ctx, portstest.NewID(), "svc_cs_x")
		},
		func(ctx context.Context, r *postgres.Store) error {
			return r.Partners.SetRateLimit(ctx, portstest.NewID(), 5)
		},
	} {
		require.ErrorIs(t, w.try(change), partner.ErrNotFound)
	}
}

func TestPartners_ConnectSecret_IsSetReplacedAndCleared(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	require.Empty(t, connectSecret(t, w, p))
	for _, key := range []string{"svc_cs_one", "svc_cs_two", ""} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			return r.Partners.SetConnectSecret(ctx, p.ID, secretText(key))
		})
		require.Equal(t, key, connectSecret(t, w, p))
		got, err := w.Partners.PartnerByID(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, key != "", got.HasConnectSecret)
	}
}

func TestPartners_RateLimit_IsSetAndGoesBackToTheDefault(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	for _, limit := range []int{120, 0} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			return r.Partners.SetRateLimit(ctx, p.ID, limit)
		})
		got, err := w.Partners.PartnerByID(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, limit, got.RateLimitPerMinute)
	}
}

func TestKeys_Insert_AreFoundByHashAndListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	older, newer := w.key(p, "older", at0), w.key(p, "newer", at0.Add(time.Hour))
	key, owner, err := w.Keys.KeyByHash(t.Context(), partner.HashKey("newer"))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(newer, key))
	require.Empty(t, cmp.Diff(p, owner, cmpopts.EquateEmpty()))
	keys, err := w.Keys.Keys(t.Context(), p.ID, ports.Page{Limit: 1})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]partner.APIKey{newer}, keys.Items))
	keys, err = w.Keys.Keys(t.Context(), p.ID, ports.Page{Limit: 1, Cursor: keys.Next})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]partner.APIKey{older}, keys.Items))
	require.True(t, keys.Next.IsZero())
	keys, err = w.Keys.Keys(t.Context(), portstest.NewID(), ports.Page{Limit: 1})
	require.NoError(t, err)
	require.Empty(t, keys.Items, "the keys of another partner")
}

func TestKeys_UnknownHash_IsInvalid(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	_, _, err := w.Keys.KeyByHash(t.Context(), partner.HashKey("unknown"))
	require.ErrorIs(t, err, partner.ErrInvalidAPIKey)
	k := w.key(w.partner(), "unknown", at0) // unknown at first, then created: the key works at once
	got, _, err := w.Keys.KeyByHash(t.Context(), partner.HashKey("unknown"))
	require.NoError(t, err)
	require.Equal(t, k.ID, got.ID)
}

func TestKeys_Revoke_IsFoundRevokedWithinFiveSecondsAndKeepsItsFirstTime(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	k := w.key(w.partner(), "ended", at0)
	// an implementation may cache the answer from here on
	_, _, err := w.Keys.KeyByHash(t.Context(), partner.HashKey("ended"))
	require.NoError(t, err)
	for _, at := range []time.Time{at0.Add(time.Minute), at0.Add(time.Hour)} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			ended, err := r.Keys.RevokeKey(ctx, k.ID, at)
			require.Equal(t, at0.Add(time.Minute), ended.RevokedAt)
			return err
		})
	}
	require.Eventually(t, func() bool {
		got, _, err := w.Keys.KeyByHash(t.Context(), partner.HashKey("ended"))
		return err == nil && got.Revoked()
	}, 5*time.Second, 20*time.Millisecond)
}

func TestKeys_UnknownID_IsNotFound(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	for _, do := range []func(context.Context, *postgres.Store) error{
		func(ctx context.Context, r *postgres.Store) error {
			_, err := r.Keys.RevokeKey(ctx, portstest.NewID(), at0)
			return err
		},
		func(ctx context.Context, r *postgres.Store) error {
			_, _, err := r.Keys.KeyForUpdate(ctx, portstest.NewID())
			return err
		},
	} {
		require.ErrorIs(t, w.try(do), partner.ErrAPIKeyNotFound)
	}
}

func TestKeys_ForUpdate_GivesKeyAndPartner(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	k := w.key(p, "mine", at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		key, owner, err := r.Keys.KeyForUpdate(ctx, k.ID)
		require.Empty(t, cmp.Diff(k, key))
		require.Empty(t, cmp.Diff(p, owner, cmpopts.EquateEmpty()))
		return err
	})
}

func TestKeys_Insert_ManyAtOnce_StopsAtTheLimit_RevokedKeysDoNotCount(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, other := w.partner(), w.partner()
	ended := w.key(p, "ended before", at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Keys.RevokeKey(ctx, ended.ID, at0)
		return err
	})
	var wg sync.WaitGroup
	errs := make([]error, partner.MaxAPIKeys+10)
	for i := range errs {
		wg.Go(func() { errs[i] = w.tryKey(apiKey(p, at0), portstest.NewID().Encode()) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, partner.ErrAPIKeyLimit)
	}
	require.Equal(t, partner.MaxAPIKeys, made)
	w.key(other, "of another partner", at0)
}

func TestKeys_RecordUse_IsWrittenInTime(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	k := w.key(p, "used", at0)
	used := at0.Add(time.Hour)
	w.Keys.RecordKeyUse(t.Context(), k.ID, used)
	require.Eventually(t, func() bool {
		keys, err := w.Keys.Keys(t.Context(), p.ID, ports.Page{Limit: 1})
		return err == nil && keys.Items[0].LastUsedAt.Equal(used)
	}, 10*time.Second, 20*time.Millisecond)
}

func (w *pooledStore) key(p partner.Partner, plain string, at time.Time) partner.APIKey {
	w.t.Helper()
	k := apiKey(p, at)
	require.NoError(w.t, w.tryKey(k, plain))
	return k
}

func apiKey(p partner.Partner, at time.Time) partner.APIKey {
	return partner.APIKey{ID: portstest.NewID(), PartnerID: p.ID, Name: "a key", Prefix: "svc_pk_test_", Last4: "abcd",
		CreatedAt: at}
}

func (w *pooledStore) tryKey(k partner.APIKey, plain string) error {
	return w.try(func(ctx context.Context, r *postgres.Store) error {
		return r.Keys.InsertKey(ctx, k, partner.HashKey(plain))
	})
}

func connectSecret(t *testing.T, w *pooledStore, p partner.Partner) string {
	t.Helper()
	got, err := w.Partners.ConnectSecret(t.Context(), p.ID)
	require.NoError(t, err)
	return got.Reveal()
}
