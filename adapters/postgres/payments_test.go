package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/portstest"
	paymentports "partnerdeposits/ports/payments"
)

func newPayment(depositID id.ID, kind deposit.PaymentKind, at time.Time) deposit.Payment {
	return deposit.Payment{ID: portstest.NewID(), DepositID: depositID, Kind: kind, Amount: 1_750,
		Status: deposit.PaymentProcessing, CreatedAt: at, CheckAt: at.Add(time.Minute)}
}

func (w *pooledStore) pay(depositID id.ID, kind deposit.PaymentKind, at time.Time) deposit.Payment {
	w.t.Helper()
	p := newPayment(depositID, kind, at)
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Insert(ctx, p) })
	return p
}

func (w *pooledStore) settle(p deposit.Payment, status deposit.PaymentStatus) deposit.Payment {
	w.t.Helper()
	p.Status, p.SettledAt, p.ProviderRef, p.Attempts = status, at0.Add(time.Hour), "ref", p.Attempts+1
	if status == deposit.PaymentFailed {
		p.Failure = "card_declined"
	}
	w.do(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Update(ctx, p) })
	return p
}

func TestPayments_Insert_IsProcessingUntilSettled(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	p := w.pay(d.ID, deposit.PaymentKindFee, at0)
	underWay := func() (got *deposit.Payment) {
		w.do(func(ctx context.Context, r *postgres.Store) (err error) {
			got, err = r.Payments.LockProcessing(ctx, d.ID, deposit.PaymentKindFee)
			return err
		})
		return got
	}
	require.Empty(t, cmp.Diff(&p, underWay()))
	p = w.settle(p, deposit.PaymentFailed)
	require.Nil(t, underWay())
	got, err := w.Payments.Payments(t.Context(), d.ID)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]deposit.Payment{p}, got))
}

func TestPayments_Insert_BesideAProcessingOrSucceededPayment_IsRefusedAndLeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	first := w.pay(d.ID, deposit.PaymentKindFee, at0)
	refused := func() {
		w.do(func(ctx context.Context, r *postgres.Store) error {
			require.ErrorIs(t, r.Payments.Insert(ctx, newPayment(d.ID, deposit.PaymentKindFee, at0)),
				paymentports.ErrPaymentExists)
			_, err := r.Payments.LockProcessing(ctx, d.ID, deposit.PaymentKindFee)
			return err
		})
	}
	refused()
	w.settle(first, deposit.PaymentFailed)
	second := w.pay(d.ID, deposit.PaymentKindFee, at0.Add(time.Minute)) // the tenant tries another card
	refused()
	w.settle(second, deposit.PaymentSucceeded)
	refused()
	w.pay(d.ID, deposit.PaymentKindCollection, at0) // a payment of another kind is no obstacle
	got, err := w.Payments.Payments(t.Context(), d.ID)
	require.NoError(t, err)
	require.Len(t, got, 3)
}

func TestPayments_Insert_ManyAtOnce_OneWins(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	ended := w.race(func(int) error {
		return w.try(func(ctx context.Context, r *postgres.Store) error {
			return r.Payments.Insert(ctx, newPayment(d.ID, deposit.PaymentKindFee, at0))
		})
	})
	require.Equal(t, map[string]int{"<nil>": 1, paymentports.ErrPaymentExists.Error(): racers - 1}, ended)
}

func TestPayments_Insert_WhileAnotherIsBeingSettled_IsRefusedOnceThatSucceeded(t *testing.T) {
	t.Parallel()
	w := pooled(t)
	d := w.deposit(w.partner())
	first := w.pay(d.ID, deposit.PaymentKindFee, at0)
	ended := w.race(func(i int) error {
		return w.try(func(ctx context.Context, r *postgres.Store) error {
			if i > 0 {
				return r.Payments.Insert(ctx, newPayment(d.ID, deposit.PaymentKindFee, at0))
			}
			settled := first
			settled.Status, settled.SettledAt = deposit.PaymentSucceeded, at0
			return r.Payments.Update(ctx, settled)
		})
	})
	require.Equal(t, map[string]int{"<nil>": 1, paymentports.ErrPaymentExists.Error(): racers - 1}, ended)
}

func TestPayments_ToCheck_AreDueOldestFirstAndNotGivenTwice(t *testing.T) {
	t.Parallel()
	w := alone(t)
	p := w.partner()
	older, newer := w.pay(w.deposit(p).ID, deposit.PaymentKindFee, at0),
		w.pay(w.deposit(p).ID, deposit.PaymentKindFee, at0.Add(time.Second))
	w.settle(w.pay(w.deposit(p).ID, deposit.PaymentKindFee, at0), deposit.PaymentSucceeded)
	paymentID := func(p deposit.Payment) id.ID { return p.ID }

	got, err := w.Payments.PaymentsToCheck(t.Context(), older.CheckAt.Add(-time.Microsecond), 10)
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = w.Payments.PaymentsToCheck(t.Context(), newer.CheckAt, 1)
	require.NoError(t, err)
	require.Equal(t, []id.ID{older.ID}, idsOf(got, paymentID))
	got, err = w.Payments.PaymentsToCheck(t.Context(), newer.CheckAt, 10)
	require.NoError(t, err)
	require.Equal(t, []id.ID{newer.ID}, idsOf(got, paymentID))
	got, err = w.Payments.PaymentsToCheck(t.Context(), newer.CheckAt.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Equal(t, []id.ID{older.ID, newer.ID}, idsOf(got, paymentID))
}
