//go:build !unit

package payments_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

func TestCancel_EndsTheDebtAtTheProviderFirst(t *testing.T) {
	b := setup(t)
	depositID, collectionID, token := b.capturedWithToken()
	b.refuse("lost_card", paymentports.ChargeRefusedForGood)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	b.Provider.SetUnreachable(true)
	shown, err := b.Payments.CancelCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, deposit.CollectionAwaitingTenant, shown.State, "the provider has not closed the payment")
	require.Equal(t, b.Clock.Now(), shown.CancelAt)
	next, err := b.Checkout.StartDebtPayment(b.Ctx(), token)
	require.NoError(t, err)
	require.Empty(t, next.PageURL, "nothing can be paid any more")
	b.Provider.SetUnreachable(false)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, "awaiting_tenant>failed cancelled admin", b.life(depositID)[1])
	closed, err := b.Sandbox.LookupPayment(b.Ctx(), collectionID)
	require.NoError(t, err)
	require.NotEqual(t, paymentports.ProviderPaymentSucceeded, closed.Status)
	require.Equal(t, []string{"collection.cancel", "payment.collection_failed"}, b.AuditActions(t, depositID))
	_, err = b.Payments.CancelCollection(b.Ctx(), depositID)
	require.ErrorIs(t, err, deposit.ErrCollectionOver)
	_, err = b.Payments.RetryCollection(b.Ctx(), depositID)
	require.ErrorIs(t, err, deposit.ErrCollectionOver)
}

func TestRetry_ChargesAtOnce_UnlessTheBankForbids(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.refuse("insufficient_funds", paymentports.ChargeRefusedForNow)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	attempts := b.refuse("stolen_card", paymentports.ChargeRefusedForGood)
	shown, err := b.Payments.RetryCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, []int{2}, *attempts)
	require.Equal(t, deposit.CollectionAwaitingTenant, shown.State)
	_, err = b.Payments.RetryCollection(b.Ctx(), depositID)
	require.ErrorIs(t, err, deposit.ErrCollectionNotRetryable)
	_, err = b.Payments.RetryCollection(b.Ctx(), servicetest.NewID())
	require.ErrorIs(t, err, deposit.ErrNotFound)
	plain, _ := b.CreateDeposit(t)
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

func TestRefund_ProviderAway_IsMadeByTheDispatcherOnce(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.Provider.SetAnswersLost(true)
	r, err := b.Payments.RefundByStaff(b.Ctx(), collectionID, 0)
	require.NoError(t, err)
	require.Equal(t, deposit.RefundPending, r.Status)
	b.Provider.SetAnswersLost(false)
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	b.RequireJobCount(0, b.Payments.CheckDuePayments)
	require.Equal(t, 1, b.Count("sandbox_refunds", "payment_id = $1", collectionID))
	shown, err := b.Payments.ShowCollection(b.Ctx(), depositID)
	require.NoError(t, err)
	require.Equal(t, deposit.RefundSucceeded, shown.Refunds[0].Status)
}

// A payment that the provider had ended is paid all the same.
func TestLookAgain_PaidAfterItsEnd_IsRefunded(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	fee := b.LoadFeePayment(d.ID).ID
	b.Provider.OnLookupOrClose(func() paymentports.ProviderPayment {
		return paymentports.ProviderPayment{Status: paymentports.ProviderPaymentClosed}
	})
	_, err := b.Checkout.Abandon(b.Ctx(), token)
	require.NoError(t, err)
	b.Provider.OnLookupOrClose(nil)
	b.PayOnPaymentPage(d.ID, true)
	for _, want := range []bool{true, false} {
		paid, err := b.Payments.RecheckEndedPayment(b.Ctx(), fee)
		require.NoError(t, err)
		require.Equal(t, want, paid)
	}
	b.RequireJobCount(1, b.Payments.CheckDuePayments)
	require.Equal(t, 1, b.Count("refunds", "payment_id = $1 AND status = 'succeeded' AND reason = 'orphaned'", fee))
	require.Equal(t, []string{"payment.orphaned"}, b.AuditActions(t, d.ID))
	require.Equal(t, []string{"We refunded €17.50"}, b.mailTenants())
}

func TestSimulate_DoesWhatATenantOrTimeWouldDo(t *testing.T) {
	b := setup(t)
	type steps []payments.SimulatedEvent
	for name, c := range map[string]struct {
		before  steps
		outcome payments.SimulatedEvent
		status  deposit.Status
		reason  string
		refused *fault.Error
	}{
		"start":                       {nil, "start", deposit.Pending, "", nil},
		"start again":                 {steps{"start"}, "start", deposit.Pending, "", nil},
		"start after activation":      {steps{"activate"}, "start", deposit.Active, "", deposit.ErrNotSecurable},
		"activate":                    {nil, "activate", deposit.Active, "", nil},
		"activate after a failure":    {steps{"fail_payment"}, "activate", deposit.Active, "", nil},
		"activate twice":              {steps{"activate"}, "activate", deposit.Active, "", deposit.ErrNotSecurable},
		"decline":                     {nil, "decline", deposit.Cancelled, "tenant_declined", nil},
		"decline after activation":    {steps{"activate"}, "decline", deposit.Active, "", deposit.ErrNotCancellable},
		"abandon":                     {nil, "abandon", deposit.Cancelled, "tenant_abandoned", nil},
		"fail_payment":                {nil, "fail_payment", deposit.PaymentIssue, "fee_failed", nil},
		"expire before it is secured": {nil, "expire", deposit.Cancelled, "checkout_expired", nil},
		"expire after activation":     {steps{"activate"}, "expire", deposit.Closed, "coverage_elapsed", nil},
		"expire after expiry": {steps{"activate", "expire"}, "expire", deposit.Closed, "coverage_elapsed",
			deposit.ErrNotReleasable},
		"something else": {nil, "explode", deposit.Pending, "", fault.ErrInvalidField},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := b.CreateDeposit(t)
			for _, before := range c.before {
				_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, before)
				require.NoError(t, err)
			}
			got, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, c.outcome)
			if c.refused != nil {
				require.ErrorIs(t, err, c.refused)
			} else {
				require.NoError(t, err)
				require.Equal(t, c.status, got.Status)
			}
			b.RequireStatus(d.ID, c.status, c.reason)
		})
	}
}

func TestSimulate_Start_LetsTheCheckoutGoIdle(t *testing.T) {
	b := setup(t)
	d, _ := b.CreateDeposit(t)
	_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulatedCheckoutStart)
	require.NoError(t, err)
	b.Clock.Add(31 * time.Minute)
	moved, err := b.Timers.MarkIdleCheckouts(b.Ctx())
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	b.RequireStatus(d.ID, deposit.Incomplete, "checkout_idle")
}

func TestSimulate_TakesOverThePaymentOfARealTenant(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	_, err := b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulatedActivation)
	require.NoError(t, err)
	require.Equal(t, deposit.PaymentSucceeded, b.LoadFeePayment(d.ID).Status)
	require.Equal(t, grace.Email, b.RequireStatus(d.ID, deposit.Active, "").Client.Email)
}

func TestSimulate_AfterATenantLeftAClosedPage_BeginsAnotherPayment(t *testing.T) {
	b := setup(t)
	d, token := b.CreateDeposit(t)
	b.SubmitCheckoutForm(token, grace)
	_, err := b.Sandbox.ClosePayment(b.Ctx(), b.LoadFeePayment(d.ID).ID)
	require.NoError(t, err)
	_, err = b.Payments.Simulate(b.Ctx(), b.PartnerID, d.ID, payments.SimulatedActivation)
	require.NoError(t, err)
	require.Equal(t, []deposit.PaymentStatus{deposit.PaymentVoided, deposit.PaymentSucceeded}, b.FeeStatuses(d.ID))
}

func TestSimulate_ForeignOrUnknownDeposits_AreRefused(t *testing.T) {
	b := setup(t)
	d, _ := b.CreateDeposit(t)
	dashboard, _ := b.CreateDeposit(t, func(d *deposit.Deposit) { d.ByPartnerAPI = false })
	_, err := b.Payments.Simulate(b.Ctx(), id.ID{9}, d.ID, payments.SimulatedActivation)
	require.ErrorIs(t, err, deposit.ErrAccessDenied)
	_, err = b.Payments.Simulate(b.Ctx(), b.PartnerID, dashboard.ID, payments.SimulatedActivation)
	require.ErrorIs(t, err, deposit.ErrAccessDenied)
	_, err = b.Payments.Simulate(b.Ctx(), b.PartnerID, id.ID{9}, payments.SimulatedActivation)
	require.ErrorIs(t, err, deposit.ErrNotFound)
}

func TestMain(m *testing.M) { servicetest.RunTests(m) }

var grace, declined = checkouttest.TenantGraceHopper, checkouttest.DeclinedTenant

// bench adds the steps of these tests to a tenant's steps.
type bench struct{ checkouttest.Steps }

func setup(t *testing.T) bench {
	t.Helper()
	return bench{checkouttest.NewSteps(t)}
}

type entropy = system.Entropy

var discard = slog.New(slog.DiscardHandler)

// exec changes rows behind the service's back.
func (b bench) exec(sql string, args ...any) {
	b.T.Helper()
	_, err := b.Pool.Exec(b.Ctx(), sql, args...)
	require.NoError(b.T, err)
}
