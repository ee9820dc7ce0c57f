package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/portstest"
)

func TestWithinTx_FnReturnsAnError_LeavesNothingAndReturnsIt(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := partner.Partner{ID: portstest.NewID(), Slug: "rolled-back", Name: "P", CreatedAt: at0}
	err := w.try(func(ctx context.Context, r *postgres.Store) error {
		require.NoError(t, r.Partners.Insert(ctx, p, ""))
		return errStop
	})
	require.ErrorIs(t, err, errStop)
	_, err = w.Partners.PartnerByID(t.Context(), p.ID)
	require.ErrorIs(t, err, partner.ErrNotFound)
}

func TestWithinTx_FnPanics_LeavesNothingAndGoesOnPanicking(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p := partner.Partner{ID: portstest.NewID(), Slug: "panicked", Name: "P", CreatedAt: at0}
	require.PanicsWithValue(t, "boom", func() {
		_ = w.try(func(ctx context.Context, r *postgres.Store) error {
			require.NoError(t, r.Partners.Insert(ctx, p, ""))
			panic("boom")
		})
	})
	_, err := w.Partners.PartnerByID(t.Context(), p.ID)
	require.ErrorIs(t, err, partner.ErrNotFound)
	w.partner() // and the connection is usable
}

func TestWithinTx_CancelledBefore_SaysUnavailableWithoutCallingFn(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := w.WithinTx(ctx, func(context.Context) error {
		t.Error("fn was called")
		return nil
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
}

func TestWithinTx_CancelledInside_LeavesNothing(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := partner.Partner{ID: portstest.NewID(), Slug: "cancelled", Name: "P", CreatedAt: at0}
	err := w.WithinTx(ctx, func(ctx context.Context) error {
		require.NoError(t, w.Partners.Insert(ctx, p, ""))
		cancel()
		return nil
	})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	_, err = w.Partners.PartnerByID(t.Context(), p.ID)
	require.ErrorIs(t, err, partner.ErrNotFound)
}

func TestWithinTx_ReadsItsOwnWrites(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	w.do(func(ctx context.Context, r *postgres.Store) error {
		got, err := r.Deposits.ForUpdate(ctx, d.ID)
		require.NoError(t, err)
		step, err := got.Apply(deposit.CancelledByPartner, deposit.DefaultTimers(), at0)
		require.NoError(t, err)
		require.NoError(t, r.Deposits.Transition(ctx, got, step))
		again, err := r.Deposits.ForUpdate(ctx, d.ID)
		require.NoError(t, err)
		require.Equal(t, deposit.Cancelled, again.Status)
		return nil
	})
}

func TestWithinTx_AStatementBreaksAConstraint_FailsAsAWholeEvenWhenPassedOver(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	p, other := w.partner(), partner.Partner{ID: portstest.NewID(), Slug: "kept-out", Name: "P", CreatedAt: at0}
	err := w.try(func(ctx context.Context, r *postgres.Store) error {
		require.NoError(t, r.Partners.Insert(ctx, other, ""))
		_ = r.Partners.Insert(ctx, partner.Partner{ID: portstest.NewID(), Slug: p.Slug, Name: "P", CreatedAt: at0}, "")
		return nil
	})
	require.Error(t, err)
	_, err = w.Partners.PartnerByID(t.Context(), other.ID)
	require.ErrorIs(t, err, partner.ErrNotFound)
}
