package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
)

func TestLinks_Insert_IsActive(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, a := w.partner(), w.account()
	l := w.link(p.ID, a.ID, "op-1", at0)
	got, err := w.Links.ActiveLink(t.Context(), a.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(&l, got))
	w.do(func(ctx context.Context, r *postgres.Store) error {
		locked, err := r.Links.LockActiveLink(ctx, a.ID)
		require.Empty(t, cmp.Diff(&l, locked))
		return err
	})
}

func TestLinks_LastRevoked_IsOfThePartnersExternalID(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, other, a, b := w.partner(), w.partner(), w.account(), w.account()
	revoked := func(partnerID id.ID, externalID string) time.Time {
		at, err := w.Links.LastRevokedAt(t.Context(), partnerID, externalID)
		require.NoError(t, err)
		w.do(func(ctx context.Context, r *postgres.Store) error {
			inside, err := r.Links.LastRevokedAt(ctx, partnerID, externalID)
			require.True(t, at.Equal(inside))
			return err
		})
		return at
	}
	for i, account := range []id.ID{a.ID, b.ID} { // the number moves to another account
		w.link(p.ID, account, "op-1", at0)
		of, err := w.Links.ActiveLinkByExternalID(t.Context(), p.ID, "op-1")
		require.NoError(t, err)
		require.Equal(t, account, of.AccountID)
		at := at0.Add(time.Duration(i+1) * time.Hour)
		w.do(func(ctx context.Context, r *postgres.Store) error {
			_, err := r.Links.Revoke(ctx, p.ID, account, connect.RevokedByOperator, at)
			return err
		})
		require.True(t, at.Equal(revoked(p.ID, "op-1")))
	}
	none, err := w.Links.ActiveLinkByExternalID(t.Context(), p.ID, "op-1")
	require.NoError(t, err)
	require.Nil(t, none)
	w.link(other.ID, a.ID, "op-2", at0)
	require.Zero(t, revoked(other.ID, "op-1"))
	require.Zero(t, revoked(p.ID, "op-2"))
	require.Zero(t, revoked(other.ID, "op-2"), "linked and never revoked")
}

func TestLinks_Insert_AgainstAnother_SaysWhichAndLeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, other, a, b := w.partner(), w.partner(), w.account(), w.account()
	w.link(p.ID, a.ID, "op-1", at0)
	for name, c := range map[string]struct {
		link connect.Link
		want error
	}{
		"another partner": {connect.Link{PartnerID: other.ID, AccountID: a.ID, ExternalID: "op-1"}, connect.ErrAlreadyLinked},
		"the same account, another number": {connect.Link{PartnerID: p.ID, AccountID: a.ID, ExternalID: "op-2"},
			connect.ErrExternalIDConflict},
		"the same number, another account": {connect.Link{PartnerID: p.ID, AccountID: b.ID, ExternalID: "op-1"},
			connect.ErrExternalIDConflict},
		"the very same": {connect.Link{PartnerID: p.ID, AccountID: a.ID, ExternalID: "op-1"}, connect.ErrAlreadyLinked},
	} {
		fresh := w.account()
		w.do(func(ctx context.Context, r *postgres.Store) error {
			c.link.ID, c.link.LinkedAt = portstest.NewID(), at0
			require.ErrorIs(t, r.Links.Insert(ctx, c.link), c.want, name)
			return r.Links.Insert(ctx, connect.Link{ID: portstest.NewID(), PartnerID: other.ID, AccountID: fresh.ID,
				ExternalID: fresh.ID.Encode(), LinkedAt: at0})
		})
		got, err := w.Links.ActiveLink(t.Context(), fresh.ID)
		require.NoError(t, err)
		require.NotNil(t, got, name)
	}
}

func TestLinks_Insert_ManyPartnersAtOnce_OneWins(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	a := w.account()
	partners := [racers]id.ID{}
	for i := range partners {
		partners[i] = w.partner().ID
	}
	ended := w.race(func(i int) error {
		return w.try(func(ctx context.Context, r *postgres.Store) error {
			return r.Links.Insert(ctx,
				connect.Link{ID: portstest.NewID(), PartnerID: partners[i], AccountID: a.ID, ExternalID: "op", LinkedAt: at0})
		})
	})
	require.Equal(t, map[string]int{"<nil>": 1, connect.ErrAlreadyLinked.Error(): racers - 1}, ended)
}

func TestLinks_Revoke_EndsItOnceAndFreesAccountAndNumber(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, other, a := w.partner(), w.partner(), w.account()
	w.link(p.ID, a.ID, "op-1", at0)
	for _, want := range []bool{true, false} {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			changed, err := r.Links.Revoke(ctx, p.ID, a.ID, connect.RevokedByPartner, at0.Add(time.Hour))
			require.Equal(t, want, changed)
			return err
		})
	}
	w.do(func(ctx context.Context, r *postgres.Store) error {
		old, err := r.Links.LockNewestShared(ctx, p.ID, a.ID)
		require.Equal(t, connect.LinkRevoked, old.Status())
		require.Equal(t, at0.Add(time.Hour), old.RevokedAt)
		return err
	})
	w.link(other.ID, a.ID, "op-1", at0.Add(2*time.Hour))
	w.link(p.ID, w.account().ID, "op-1", at0.Add(2*time.Hour))
}
