package checkout_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/checkout/checkouttest"
	"partnerdeposits/app/checkout"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func TestReconcile_TenantPaidAndLeft_SecuresTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	requireMoved(t, 0, b.Service.ReconcilePayments)
	b.Clock.Add(30 * time.Second)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	b.requireStatus(d.ID, deposit.Active, "")
	requireMoved(t, 0, b.Service.ReconcilePayments)
}

func TestReconcile_CardWasRefusedAndTenantLeft_ShowsInTheStatus(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, false)
	b.Clock.Add(30 * time.Second)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	b.requireStatus(d.ID, deposit.PaymentIssue, "fee_failed")
}

func TestReconcile_OpenPage_IsLeftToTheTenant(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	for range 20 { // asked ever less often, at the least every five minutes
		b.Clock.Add(5 * time.Minute)
		requireMoved(t, 0, b.Service.ReconcilePayments)
	}
	require.Equal(t, 20, b.fee(d.ID).Attempts)
	b.pay(d.ID, true)
	b.Clock.Add(5 * time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	b.requireStatus(d.ID, deposit.Active, "")
}

// The process died, or the request was lost, between the commit of the payment and the provider.
func TestReconcile_ProviderNeverHeardOfThePayment_VoidsItAfterAGrace(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Provider.Away(true)
	_, err := b.Service.Submit(b.ctx(), token, grace)
	requireUnavailable(t, err)
	b.Provider.Away(false)

	b.Clock.Add(time.Minute)
	requireMoved(t, 0, b.Service.ReconcilePayments)
	require.Equal(t, deposit.PaymentProcessing, b.fee(d.ID).Status, "it may still be on its way")
	b.Clock.Add(2 * time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	require.Equal(t, deposit.PaymentVoided, b.fee(d.ID).Status)
	b.requireStatus(d.ID, deposit.Pending, "")

	b.submit(token, grace)
	b.pay(d.ID, true)
	b.comeBack(token)
	b.requireStatus(d.ID, deposit.Active, "")
}

// The provider made the page and its answer was lost.
func TestReconcile_AnswerWasLost_FindsThePaymentAgain(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Provider.LoseAnswers(true)
	_, err := b.Service.Submit(b.ctx(), token, grace)
	requireUnavailable(t, err)
	b.Provider.LoseAnswers(false)
	b.pay(d.ID, true) // the page is there, and somebody has it
	b.Clock.Add(time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	b.requireStatus(d.ID, deposit.Active, "")
	require.NotEmpty(t, b.fee(d.ID).ProviderRef)
}

func TestReconcile_ProviderAway_AsksAgainLater(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	b.Provider.Away(true)
	var waits []time.Duration
	for range 6 {
		b.Clock.Add(b.fee(d.ID).CheckAt.Sub(b.Clock.Now()))
		requireMoved(t, 0, b.Service.ReconcilePayments)
		waits = append(waits, b.fee(d.ID).CheckAt.Sub(b.Clock.Now()))
	}
	require.Equal(t, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute}, waits)
	require.Contains(t, b.Log.String(), id.Payment.Of(b.fee(d.ID).ID))
	b.Provider.Away(false)
	b.Clock.Add(5 * time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	b.requireStatus(d.ID, deposit.Active, "")
}

// captured makes a deposit that was secured and then claimed, with its collection waiting.
func (b bench) captured() (depositID, collectionID id.ID) {
	b.t.Helper()
	d, token := b.Deposit(b.t)
	b.submit(token, grace)
	b.pay(d.ID, true)
	b.comeBack(token)
	collectionID = b.Deps.Entropy.NewID()
	now := b.Clock.Now()
	b.Write(b.t, func(ctx context.Context, r ports.Repositories) error {
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
	b.t.Helper()
	all := b.Payments(b.t, depositID, deposit.Collection)
	require.Len(b.t, all, 1)
	return all[0]
}

func TestReconcile_Collection_ChargesTheCardThatPaidTheFee(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	var asked ports.CollectRequest
	b.Provider.OnCollect(func(r ports.CollectRequest) (ports.ProviderPayment, error) {
		asked = r
		return b.Sandbox.Collect(b.ctx(), r)
	})
	requireMoved(t, 1, b.Service.ReconcilePayments)
	require.Equal(t, ports.CollectRequest{
		PaymentID: collectionID, FeePaymentID: b.fee(depositID).ID, Amount: 50_000, Description: b.Load(t, depositID).Reference,
	}, asked)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Empty(t, b.Audit(t, depositID))
	requireMoved(t, 0, b.Service.ReconcilePayments)
}

func TestReconcile_CollectionRefused_IsTriedForDaysAndThenGivenUp(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.OnCollect(func(ports.CollectRequest) (ports.ProviderPayment, error) {
		return ports.ProviderPayment{Status: ports.ProviderFailed, Ref: "ch_1", Failure: "insufficient_funds"}, nil
	})
	begun := b.Clock.Now()
	for tries := 1; tries < 10; tries++ {
		requireMoved(t, 0, b.Service.ReconcilePayments)
		require.Equal(t, tries, b.collection(depositID).Attempts)
		require.Equal(t, "insufficient_funds", b.collection(depositID).Failure)
		b.Clock.Add(b.collection(depositID).CheckAt.Sub(b.Clock.Now()))
	}
	requireMoved(t, 1, b.Service.ReconcilePayments)
	require.Greater(t, b.Clock.Now().Sub(begun), 4*24*time.Hour)
	given := b.collection(depositID)
	require.Equal(t, deposit.PaymentFailed, given.Status)
	require.Equal(t, "insufficient_funds", given.Failure)
	require.Equal(t, 10, given.Attempts)
	require.Equal(t, []string{"payment.collection_failed"}, b.Audit(t, depositID))
	b.requireStatus(depositID, deposit.Captured, "claim")
	b.Clock.Add(100 * 24 * time.Hour)
	requireMoved(t, 0, b.Service.ReconcilePayments)
}

func TestReconcile_CollectionRefusedAtFirst_SucceedsLater(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.OnCollect(func(ports.CollectRequest) (ports.ProviderPayment, error) {
		return ports.ProviderPayment{Status: ports.ProviderFailed, Failure: "insufficient_funds"}, nil
	})
	requireMoved(t, 0, b.Service.ReconcilePayments)
	b.Provider.OnCollect(nil)
	b.Clock.Add(time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Empty(t, b.collection(depositID).Failure)
}

func TestReconcile_CollectionWhileTheProviderIsAway_IsNeverGivenUp(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.Away(true)
	for range 30 {
		requireMoved(t, 0, b.Service.ReconcilePayments)
		b.Clock.Add(5 * time.Minute)
	}
	require.Zero(t, b.collection(depositID).Attempts, "nobody refused anything")
	b.Provider.Away(false)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
}

func TestReconcile_CollectionAnswerWasLost_ChargesOnce(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.Provider.LoseAnswers(true)
	requireMoved(t, 0, b.Service.ReconcilePayments)
	charged, err := b.Sandbox.Lookup(b.ctx(), collectionID)
	require.NoError(t, err)
	b.Provider.LoseAnswers(false)
	b.Clock.Add(5 * time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	require.Equal(t, charged.Ref, b.collection(depositID).ProviderRef)
}

func TestReconcile_CollectionWithoutAPaidFee_FailsInsteadOfTurningForEver(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	_, err := b.Pool.Exec(b.ctx(), `DELETE FROM payments WHERE deposit_id = $1 AND kind = 'fee'`, depositID)
	require.NoError(t, err)
	for range 10 {
		_, err := b.Service.ReconcilePayments(b.ctx())
		require.NoError(t, err)
		b.Clock.Add(24 * time.Hour)
	}
	require.Equal(t, deposit.PaymentFailed, b.collection(depositID).Status)
	require.Equal(t, []string{"payment.collection_failed"}, b.Audit(t, depositID))
}

// panicky cannot even be asked about one payment.
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
	b.submit(badToken, grace)
	b.submit(goodToken, grace)
	b.pay(bad.ID, true)
	b.pay(good.ID, true)
	b.Clock.Add(time.Minute)
	deps := b.Deps
	deps.Provider = panicky{b.Provider, b.fee(bad.ID).ID}
	requireMoved(t, 1, checkout.New(b.Config, deps).ReconcilePayments)
	b.requireStatus(good.ID, deposit.Active, "")
	b.requireStatus(bad.ID, deposit.Pending, "")
	b.Clock.Add(time.Minute)
	requireMoved(t, 1, b.Service.ReconcilePayments)
	b.requireStatus(bad.ID, deposit.Active, "")
}
