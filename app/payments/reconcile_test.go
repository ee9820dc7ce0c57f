//go:build !unit

package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/checkout/checkouttest"
	"partnerdeposits/cmd/servicetest"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func TestReconcile_TenantPaidAndLeft_SecuresTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	b.Pay(d.ID, true)
	b.RequireCount(0, b.Payments.Reconcile)
	b.Clock.Add(30 * time.Second)
	b.RequireCount(1, b.Payments.Reconcile)
	b.RequireStatus(d.ID, deposit.Active, "")
	b.RequireCount(0, b.Payments.Reconcile)
}

func TestReconcile_CardWasRefusedAndTenantLeft_ShowsInTheStatus(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	b.Pay(d.ID, false)
	b.Clock.Add(30 * time.Second)
	b.RequireCount(1, b.Payments.Reconcile)
	b.RequireStatus(d.ID, deposit.PaymentIssue, "fee_failed")
}

func TestReconcile_OpenPage_IsLeftToTheTenant(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	for range 20 { // the waits grow up to five minutes
		b.Clock.Add(5 * time.Minute)
		b.RequireCount(0, b.Payments.Reconcile)
	}
	require.Equal(t, 20, b.Fee(d.ID).Attempts)
	b.Pay(d.ID, true)
	b.Clock.Add(5 * time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	b.RequireStatus(d.ID, deposit.Active, "")
}

// The process died, or the request was lost, after the commit of the payment and before the provider received the request.
func TestReconcile_ProviderNeverHeardOfThePayment_VoidsItAfterAGrace(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Provider.Away(true)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.Provider.Away(false)

	b.Clock.Add(time.Minute)
	b.RequireCount(0, b.Payments.Reconcile)
	require.Equal(t, deposit.PaymentProcessing, b.Fee(d.ID).Status, "it may still be on its way")
	b.Clock.Add(2 * time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	require.Equal(t, deposit.PaymentVoided, b.Fee(d.ID).Status)
	b.RequireStatus(d.ID, deposit.Pending, "")

	b.Submit(token, grace)
	b.Pay(d.ID, true)
	b.Return(token)
	b.RequireStatus(d.ID, deposit.Active, "")
}

// The provider opened the page, and the response was lost.
func TestReconcile_AnswerWasLost_FindsThePaymentAgain(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Provider.LoseAnswers(true)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.Provider.LoseAnswers(false)
	b.Pay(d.ID, true) // the page exists at the provider
	b.Clock.Add(time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	b.RequireStatus(d.ID, deposit.Active, "")
	require.NotEmpty(t, b.Fee(d.ID).ProviderRef)
}

func TestReconcile_ProviderAway_AsksAgainLater(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	b.Pay(d.ID, true)
	b.Provider.Away(true)
	var waits []time.Duration
	for range 6 {
		b.Clock.Add(b.Fee(d.ID).CheckAt.Sub(b.Clock.Now()))
		b.RequireCount(0, b.Payments.Reconcile)
		waits = append(waits, b.Fee(d.ID).CheckAt.Sub(b.Clock.Now()))
	}
	require.Equal(t, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute}, waits)
	require.Contains(t, b.Log.String(), id.Payment.Of(b.Fee(d.ID).ID))
	b.Provider.Away(false)
	b.Clock.Add(5 * time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	b.RequireStatus(d.ID, deposit.Active, "")
}

// captured makes a captured deposit whose collection is due.
func (b bench) captured() (depositID, collectionID id.ID) {
	b.T.Helper()
	d, token := b.Deposit(b.T)
	b.Submit(token, grace)
	b.Pay(d.ID, true)
	b.Return(token)
	collectionID = servicetest.NewID()
	now := b.Clock.Now()
	b.Write(func(ctx context.Context, r ports.Repositories) error {
		d, err := r.Deposits.ForUpdate(ctx, d.ID)
		if err != nil {
			return err
		}
		step, err := d.Capture(nil, deposit.DefaultTimers(), now)
		if err != nil {
			return err
		}
		if err := r.Deposits.Transition(ctx, d, step); err != nil {
			return err
		}
		return r.Payments.Insert(ctx, deposit.Payment{
			ID: collectionID, DepositID: d.ID, Kind: deposit.Collection, Amount: d.CapturedAmount,
			Status: deposit.PaymentProcessing, CreatedAt: now, CheckAt: now,
		})
	})
	return d.ID, collectionID
}

func (b bench) collection(depositID id.ID) deposit.Payment {
	b.T.Helper()
	all := b.PaymentsOf(b.T, depositID, deposit.Collection)
	require.Len(b.T, all, 1)
	return all[0]
}

func TestReconcile_Collection_ChargesTheCardThatPaidTheFee(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	var asked ports.CollectRequest
	b.Provider.OnCollect(func(r ports.CollectRequest) (ports.ProviderPayment, error) {
		asked = r
		return b.Sandbox.Collect(b.Ctx(), r)
	})
	b.RequireCount(1, b.Payments.Reconcile)
	require.Equal(t, ports.CollectRequest{
		PaymentID: collectionID, FeePaymentID: b.Fee(depositID).ID, Amount: 50_000, Description: b.Load(t, depositID).Reference,
	}, asked)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Empty(t, b.Audit(t, depositID))
	b.RequireCount(0, b.Payments.Reconcile)
}

func TestReconcile_CollectionRefused_IsTriedForDaysAndThenGivenUp(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.OnCollect(func(ports.CollectRequest) (ports.ProviderPayment, error) {
		return ports.ProviderPayment{Status: ports.ProviderFailed, Ref: "ch_1", Failure: "insufficient_funds"}, nil
	})
	begun := b.Clock.Now()
	for tries := 1; tries < 10; tries++ {
		b.RequireCount(0, b.Payments.Reconcile)
		require.Equal(t, tries, b.collection(depositID).Attempts)
		require.Equal(t, "insufficient_funds", b.collection(depositID).Failure)
		b.Clock.Add(b.collection(depositID).CheckAt.Sub(b.Clock.Now()))
	}
	b.RequireCount(1, b.Payments.Reconcile)
	require.Greater(t, b.Clock.Now().Sub(begun), 4*24*time.Hour)
	given := b.collection(depositID)
	require.Equal(t, deposit.PaymentFailed, given.Status)
	require.Equal(t, "insufficient_funds", given.Failure)
	require.Equal(t, 10, given.Attempts)
	require.Equal(t, []string{"payment.collection_failed"}, b.Audit(t, depositID))
	b.RequireStatus(depositID, deposit.Captured, "claim")
	b.Clock.Add(100 * 24 * time.Hour)
	b.RequireCount(0, b.Payments.Reconcile)
}

func TestReconcile_CollectionRefusedAtFirst_SucceedsLater(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.OnCollect(func(ports.CollectRequest) (ports.ProviderPayment, error) {
		return ports.ProviderPayment{Status: ports.ProviderFailed, Failure: "insufficient_funds"}, nil
	})
	b.RequireCount(0, b.Payments.Reconcile)
	b.Provider.OnCollect(nil)
	b.Clock.Add(time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Empty(t, b.collection(depositID).Failure)
}

func TestReconcile_CollectionWhileTheProviderIsAway_IsNeverGivenUp(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.Away(true)
	for range 30 {
		b.RequireCount(0, b.Payments.Reconcile)
		b.Clock.Add(5 * time.Minute)
	}
	require.Zero(t, b.collection(depositID).Attempts, "nobody refused anything")
	b.Provider.Away(false)
	b.RequireCount(1, b.Payments.Reconcile)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
}

func TestReconcile_CollectionAnswerWasLost_ChargesOnce(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.Provider.LoseAnswers(true)
	b.RequireCount(0, b.Payments.Reconcile)
	charged, err := b.Sandbox.Lookup(b.Ctx(), collectionID)
	require.NoError(t, err)
	b.Provider.LoseAnswers(false)
	b.Clock.Add(5 * time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	require.Equal(t, charged.Ref, b.collection(depositID).ProviderRef)
}

func TestReconcile_CollectionWithoutAPaidFee_FailsInsteadOfTurningForEver(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	_, err := b.Pool.Exec(b.Ctx(), `DELETE FROM payments WHERE deposit_id = $1 AND kind = 'fee'`, depositID)
	require.NoError(t, err)
	for range 10 {
		_, err := b.Payments.Reconcile(b.Ctx())
		require.NoError(t, err)
		b.Clock.Add(24 * time.Hour)
	}
	require.Equal(t, deposit.PaymentFailed, b.collection(depositID).Status)
	require.Equal(t, []string{"payment.collection_failed"}, b.Audit(t, depositID))
}

// panicky panics when asked about the payment.
type panicky struct {
	ports.PaymentProvider
	about id.ID
}

func (p panicky) Lookup(ctx context.Context, paymentID id.ID) (ports.ProviderPayment, error) {
	if paymentID == p.about {
		panic("poisoned")
	}
	return p.PaymentProvider.Lookup(ctx, paymentID)
}

func TestReconcile_OnePaymentInTrouble_StopsNobodyElse(t *testing.T) {
	b := setup(t)
	bad, badToken := b.Deposit(t)
	good, goodToken := b.Deposit(t, checkouttest.Client("grace@example.com", "Grace", "Hopper"))
	b.Submit(badToken, grace)
	b.Submit(goodToken, grace)
	b.Pay(bad.ID, true)
	b.Pay(good.ID, true)
	b.Clock.Add(time.Minute)
	broken := b.Build(func(p *servicetest.Parts) { p.Provider = panicky{b.Provider, b.Fee(bad.ID).ID} })
	b.RequireCount(1, broken.Payments.Reconcile)
	b.RequireStatus(good.ID, deposit.Active, "")
	b.RequireStatus(bad.ID, deposit.Pending, "")
	b.Clock.Add(time.Minute)
	b.RequireCount(1, b.Payments.Reconcile)
	b.RequireStatus(bad.ID, deposit.Active, "")
}
