//go:build !unit

package payments_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

func TestCancel_EndsTheDebtAtTheProviderFirst(t *testing.T) {
	b := setup(t)
	depositID, collectionID, token := b.capturedWithToken()
	b.refuse("lost_card", paymentports.RefusedForGood)
	b.RequireCount(0, b.Payments.CheckDue)
	b.Provider.Away(true)
	shown, err := b.Payments.CancelCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, deposit.AwaitingTenant, shown.State, "the provider has not closed the payment")
	require.Equal(t, b.Clock.Now(), shown.CancelAt)
	next, err := b.Checkout.PayDebt(b.Ctx(), token)
	require.NoError(t, err)
	require.Empty(t, next.PageURL, "nothing can be paid any more")
	b.Provider.Away(false)
	b.RequireCount(1, b.Payments.CheckDue)
	require.Equal(t, "awaiting_tenant>failed cancelled admin", b.life(depositID)[1])
	closed, err := b.Sandbox.Lookup(b.Ctx(), collectionID)
	require.NoError(t, err)
	require.NotEqual(t, paymentports.ProviderSucceeded, closed.Status)
	require.Equal(t, []string{"collection.cancel", "payment.collection_failed"}, b.Audit(t, depositID))
	_, err = b.Payments.CancelCollection(b.Ctx(), depositID)
	require.ErrorIs(t, err, deposit.ErrCollectionOver)
	_, err = b.Payments.RetryCollection(b.Ctx(), depositID)
	require.ErrorIs(t, err, deposit.ErrCollectionOver)
}

func TestCancel_ATenantWhoWasQuicker_HasPaid(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.refuse("lost_card", paymentports.RefusedForGood)
	b.RequireCount(0, b.Payments.CheckDue)
	b.Provider.OnAsk(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderSucceeded}
	})
	shown, err := b.Payments.CancelCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, deposit.CollectionPaid, shown.State)
}

func TestRetry_ChargesAtOnce_UnlessTheBankForbids(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.refuse("insufficient_funds", paymentports.RefusedForNow)
	b.RequireCount(0, b.Payments.CheckDue)
	attempts := b.refuse("stolen_card", paymentports.RefusedForGood)
	shown, err := b.Payments.RetryCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, []int{2}, *attempts)
	require.Equal(t, deposit.AwaitingTenant, shown.State)
	_, err = b.Payments.RetryCollection(b.Ctx(), depositID)
	require.ErrorIs(t, err, deposit.ErrCollectionNotRetryable)
	_, err = b.Payments.RetryCollection(b.Ctx(), servicetest.NewID())
	require.ErrorIs(t, err, deposit.ErrNotFound)
	plain, _ := b.Deposit(t)
	_, err = b.Payments.RetryCollection(b.Ctx(), plain.ID)
	require.ErrorIs(t, err, deposit.ErrNoCollection)
	listed, err := b.Payments.ListCollections(b.Ctx(), "")
	require.NoError(t, err)
	require.Len(t, listed, 1)
	require.Equal(t, depositID, listed[0].Deposit.ID)
	listed, err = b.Payments.ListCollections(b.Ctx(), deposit.CollectionPaid)
	require.NoError(t, err)
	require.Empty(t, listed)
}

func TestRefund_InParts_NeverMoreThanWasPaid(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.RequireCount(1, b.Payments.CheckDue)
	for range 2 {
		r, err := b.Payments.RefundByStaff(b.Ctx(), collectionID, 20_000)
		require.NoError(t, err)
		require.Equal(t, deposit.RefundSucceeded, r.Status)
	}
	_, err := b.Payments.RefundByStaff(b.Ctx(), collectionID, 10_001)
	require.ErrorIs(t, err, deposit.ErrRefundExceeds)
	r, err := b.Payments.RefundByStaff(b.Ctx(), collectionID, 0)
	require.NoError(t, err)
	require.EqualValues(t, 10_000, r.Amount, "the rest")
	_, err = b.Payments.RefundByStaff(b.Ctx(), collectionID, 1)
	require.ErrorIs(t, err, deposit.ErrNotRefundable)
	require.Equal(t, []string{"collection.refund", "collection.refund", "collection.refund"}, b.Audit(t, depositID))
	require.Equal(t, 3, b.Count("tenant_notices", "kind = 'refunded'"))
	b.mailTenants()
	require.Equal(t, deposit.CollectionPaid, b.debt(depositID).State)
}

func TestRefund_ProviderAway_IsMadeByTheDispatcherOnce(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.RequireCount(1, b.Payments.CheckDue)
	b.Provider.LoseAnswers(true)
	r, err := b.Payments.RefundByStaff(b.Ctx(), collectionID, 0)
	require.NoError(t, err)
	require.Equal(t, deposit.RefundPending, r.Status)
	b.Provider.LoseAnswers(false)
	b.RequireCount(1, b.Payments.CheckDue)
	b.RequireCount(0, b.Payments.CheckDue)
	require.Equal(t, 1, b.Count("sandbox_refunds", "payment_id = $1", collectionID))
	shown, err := b.Payments.ShowCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, deposit.RefundSucceeded, shown.Refunds[0].Status)
}

// A payment that the provider had ended is paid all the same.
func TestLookAgain_PaidAfterItsEnd_IsRefunded(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	fee := b.Fee(d.ID).ID
	b.Provider.OnAsk(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderClosed}
	})
	_, err := b.Checkout.Abandon(b.Ctx(), token)
	require.NoError(t, err)
	b.Provider.OnAsk(nil)
	b.Pay(d.ID, true)
	for _, want := range []bool{true, false} {
		paid, err := b.Payments.LookAgain(b.Ctx(), fee)
		require.NoError(t, err)
		require.Equal(t, want, paid)
	}
	b.RequireCount(1, b.Payments.CheckDue)
	require.Equal(t, 1, b.Count("refunds", "payment_id = $1 AND status = 'succeeded' AND reason = 'orphaned'", fee))
	require.Equal(t, []string{"payment.orphaned"}, b.Audit(t, d.ID))
	require.Equal(t, []string{"We refunded €17.50"}, b.mailTenants())
}
