package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	ports "partnerdeposits/ports/platform"
)

func TestPartners_Insert_IsFoundBySlugAndID(t *testing.T) {
	t.Parallel()
	w := alone(t)
	p := partner.Partner{ID: portstest.NewID(), Slug: "harbour-pms", Name: "Harbour", ContactEmail: "dev@pms.example",
		ReturnOrigins: []string{"https://pms.example"}, RateLimitPerMinute: 60, HasConnectSecret: true, CreatedAt: at0}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Partners.Insert(ctx, p, "svc_cs_secret") })

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

func TestPartners_ConnectSecretAndRateLimit_AreSetReplacedAndCleared(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	for limit, key := range []string{"", "svc_cs_one", "svc_cs_two", ""} {
		if key != "" || limit > 0 {
			w.do(func(ctx context.Context, r *postgres.Store) error {
				return errors.Join(r.Partners.SetConnectSecret(ctx, p.ID, secret.Text(key)),
					r.Partners.SetRateLimit(ctx, p.ID, limit%3))
			})
		}
		kept, err := w.Partners.ConnectSecret(t.Context(), p.ID)
		require.NoError(t, err)
		got, err := w.Partners.PartnerByID(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, []any{key, key != "", limit % 3}, []any{kept.Reveal(), got.HasConnectSecret, got.RateLimitPerMinute})
	}
}

func TestKeys_Insert_AreFoundByHashAndListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	older, newer := w.key(p, "older", at0), w.key(p, "newer", at0.Add(time.Hour))
	key, owner, err := w.Keys.KeyByHash(t.Context(), partner.HashAPIKey("newer"))
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
	_, _, err := w.Keys.KeyByHash(t.Context(), partner.HashAPIKey("unknown"))
	require.ErrorIs(t, err, partner.ErrInvalidAPIKey)
	k := w.key(w.partner(), "unknown", at0) // unknown at first, then created: the key works at once
	got, _, err := w.Keys.KeyByHash(t.Context(), partner.HashAPIKey("unknown"))
	require.NoError(t, err)
	require.Equal(t, k.ID, got.ID)
}

func TestKeys_Revoke_KeepsItsFirstTime(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	k := w.key(w.partner(), "ended", at0)
	for _, at := range []time.Time{at0.Add(time.Minute), at0.Add(time.Hour)} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			ended, err := r.Keys.RevokeKey(ctx, k.ID, at)
			require.Equal(t, at0.Add(time.Minute), ended.RevokedAt)
			return err
		})
	}
	got, _, err := w.Keys.KeyByHash(t.Context(), partner.HashAPIKey("ended"))
	require.NoError(t, err)
	require.True(t, got.Revoked())
}

func TestKeys_ForUpdate_GivesKeyAndPartner(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := w.partner()
	k := w.key(p, "mine", at0)
	w.do(func(ctx context.Context, r *postgres.Store) error {
		key, owner, err := r.Keys.LockKeyRow(ctx, k.ID)
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
		return r.Keys.InsertKey(ctx, k, partner.HashAPIKey(plain))
	})
}

func addKey(t testing.TB, store *postgres.Store, plain string) partner.APIKey {
	t.Helper()
	k := partner.APIKey{ID: portstest.NewID(), PartnerID: storetest.CreateDepositOrigin(t, store).PartnerID, Name: "k",
		Prefix: "svc_pk_test_", Last4: "abcd", CreatedAt: time.Now()}
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Keys.InsertKey(ctx, k, partner.HashAPIKey(plain))
	})
	return k
}

func TestKeyByHash_WithinTheTimeKeysAreKept_DoesNotAskAgain(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{KeysKeptFor: time.Hour})
	k := addKey(t, store, "remembered")
	for range 2 {
		got, _, err := store.Keys.KeyByHash(t.Context(), partner.HashAPIKey("remembered"))
		require.NoError(t, err)
		require.False(t, got.Revoked())
		exec(t, pool, `UPDATE api_keys SET revoked_at = now() WHERE id = $1`, k.ID)
	}
	fresh := storetest.NewStoreOverPool(t, pool, postgres.Options{})
	got, _, err := fresh.Keys.KeyByHash(t.Context(), partner.HashAPIKey("remembered"))
	require.NoError(t, err)
	require.True(t, got.Revoked())
}

func TestRecordKeyUse_WithinAMinute_IsWrittenOnce_AndCloseWritesAtOnce(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	k, now := addKey(t, store, "used"), time.Now().UTC().Truncate(time.Microsecond)
	lastUsed := func() (at time.Time) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT last_used_at FROM api_keys WHERE id = $1`, k.ID).Scan(&at))
		return at
	}
	store.Keys.RecordKeyUse(t.Context(), k.ID, now)
	store.Keys.RecordKeyUse(t.Context(), k.ID, now.Add(59*time.Second))
	require.Zero(t, lastUsed(), "the use is written in the background")
	store.Close(t.Context())
	require.Equal(t, now, lastUsed())
	store.Keys.RecordKeyUse(t.Context(), k.ID, now.Add(time.Hour)) // after Close: dropped, as the port allows
	store.Close(t.Context())
	require.Equal(t, now, lastUsed())
}

// Two processes that record the uses of the same keys in different orders would wait for each other.
func TestRecordKeyUse_OfAKeyThatIsBeingWritten_WaitsForNobody(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	busy, free, now := addKey(t, store, "busy"), addKey(t, store, "free"), time.Now().UTC().Truncate(time.Microsecond)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE api_keys SET name = name WHERE id = $1`, busy.ID)
	require.NoError(t, err)
	store.Keys.RecordKeyUse(t.Context(), busy.ID, now)
	store.Keys.RecordKeyUse(t.Context(), free.ID, now)
	store.Close(t.Context())
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM api_keys WHERE id = $1 AND last_used_at = $2`, free.ID, now))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM api_keys WHERE id = $1 AND last_used_at IS NULL`, busy.ID))
}

func TestRecordKeyUse_OlderThanTheWrittenUse_ChangesNothing(t *testing.T) {
	t.Parallel()
	store, pool := storetest.New(t, postgres.Options{})
	k, now := addKey(t, store, "used"), time.Now().UTC().Truncate(time.Microsecond)
	exec(t, pool, `UPDATE api_keys SET last_used_at = $2 WHERE id = $1`, k.ID, now)
	store.Keys.RecordKeyUse(t.Context(), k.ID, now.Add(-time.Hour))
	store.Close(t.Context())
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM api_keys WHERE id = $1 AND last_used_at = $2`, k.ID, now))
}
