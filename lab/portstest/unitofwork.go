package portstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

var unitOfWork = map[string]func(*testing.T, *world){
	"WithinTx_FnReturnsNil_Commits": func(t *testing.T, w *world) {
		p := w.partner()
		got, err := w.PartnerByID(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, p.Slug, got.Slug)
	},
	"WithinTx_FnReturnsAnError_LeavesNothingAndReturnsIt": func(t *testing.T, w *world) {
		p := partner.Partner{ID: NewID(), Slug: "rolled-back", Name: "P", CreatedAt: at0}
		err := w.try(func(ctx context.Context, r ports.Repositories) error {
			require.NoError(t, r.Partners.Insert(ctx, p, ""))
			return errStop
		})
		require.ErrorIs(t, err, errStop)
		_, err = w.PartnerByID(t.Context(), p.ID)
		require.ErrorIs(t, err, partner.ErrNotFound)
	},
	"WithinTx_FnPanics_LeavesNothingAndGoesOnPanicking": func(t *testing.T, w *world) {
		p := partner.Partner{ID: NewID(), Slug: "panicked", Name: "P", CreatedAt: at0}
		require.PanicsWithValue(t, "boom", func() {
			_ = w.try(func(ctx context.Context, r ports.Repositories) error {
				require.NoError(t, r.Partners.Insert(ctx, p, ""))
				panic("boom")
			})
		})
		_, err := w.PartnerByID(t.Context(), p.ID)
		require.ErrorIs(t, err, partner.ErrNotFound)
		w.partner() // and the connection is usable
	},
	"WithinTx_CancelledBefore_SaysUnavailableWithoutCallingFn": func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := w.WithinTx(ctx, func(context.Context, ports.Repositories) error {
			t.Error("fn was called")
			return nil
		})
		require.ErrorIs(t, err, fault.ErrUnavailable)
	},
	"WithinTx_CancelledInside_LeavesNothing": func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		p := partner.Partner{ID: NewID(), Slug: "cancelled", Name: "P", CreatedAt: at0}
		err := w.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
			require.NoError(t, r.Partners.Insert(ctx, p, ""))
			cancel()
			return nil
		})
		require.ErrorIs(t, err, fault.ErrUnavailable)
		_, err = w.PartnerByID(t.Context(), p.ID)
		require.ErrorIs(t, err, partner.ErrNotFound)
	},
	"WithinTx_ReadsItsOwnWrites": func(t *testing.T, w *world) {
		d := w.deposit(w.partner())
		w.do(func(ctx context.Context, r ports.Repositories) error {
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
	},
	"WithinTx_NothingDone_IsFine": func(t *testing.T, w *world) {
		w.do(func(context.Context, ports.Repositories) error { return nil })
	},
	"WithinTx_AStatementBreaksAConstraint_FailsAsAWholeEvenWhenPassedOver": func(t *testing.T, w *world) {
		p, other := w.partner(), partner.Partner{ID: NewID(), Slug: "kept-out", Name: "P", CreatedAt: at0}
		err := w.try(func(ctx context.Context, r ports.Repositories) error {
			require.NoError(t, r.Partners.Insert(ctx, other, ""))
			_ = r.Partners.Insert(ctx, partner.Partner{ID: NewID(), Slug: p.Slug, Name: "P", CreatedAt: at0}, "")
			return nil
		})
		require.Error(t, err)
		_, err = w.PartnerByID(t.Context(), other.ID)
		require.ErrorIs(t, err, partner.ErrNotFound)
	},
}
