//go:build !unit

package payments_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
)

func TestReconcile_TenantPaidAndLeft_SecuresTheDeposit(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	b.Pay(d.ID, true)
	b.RequireCount(0, b.Payments.CheckDue)
	b.Clock.Add(30 * time.Second)
	b.RequireCount(1, b.Payments.CheckDue)
	b.RequireStatus(d.ID, deposit.Active, "")
	b.RequireCount(0, b.Payments.CheckDue)
}

func TestReconcile_OpenPage_IsLeftToTheTenant(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Submit(token, grace)
	for range 20 { // the waits grow up to five minutes
		b.Clock.Add(5 * time.Minute)
		b.RequireCount(0, b.Payments.CheckDue)
	}
	require.Equal(t, 20, b.Fee(d.ID).Attempts)
	b.Pay(d.ID, true)
	b.Clock.Add(5 * time.Minute)
	b.RequireCount(1, b.Payments.CheckDue)
	b.RequireStatus(d.ID, deposit.Active, "")
}

// The process died, or the request was lost, after the commit of the payment and before the provider received the
// request.
func TestReconcile_ProviderNeverHeardOfThePayment_VoidsItAfterAGrace(t *testing.T) {
	b := setup(t)
	d, token := b.Deposit(t)
	b.Provider.Away(true)
	_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.Agrees)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.Provider.Away(false)

	b.Clock.Add(time.Minute)
	b.RequireCount(0, b.Payments.CheckDue)
	require.Equal(t, deposit.PaymentProcessing, b.Fee(d.ID).Status, "it may still be on its way")
	b.Clock.Add(2 * time.Minute)
	b.RequireCount(1, b.Payments.CheckDue)
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
	_, err := b.Checkout.Submit(b.Ctx(), token, grace, checkouttest.Agrees)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	b.Provider.LoseAnswers(false)
	b.Pay(d.ID, true) // the page exists at the provider
	b.Clock.Add(time.Minute)
	b.RequireCount(1, b.Payments.CheckDue)
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
		b.RequireCount(0, b.Payments.CheckDue)
		waits = append(waits, b.Fee(d.ID).CheckAt.Sub(b.Clock.Now()))
	}
	require.Equal(t, slices.Repeat([]time.Duration{time.Minute}, 6), waits,
		"whenever the provider comes back, the payment is soon due")
	require.Zero(t, b.Fee(d.ID).Attempts, "nobody answered")
	require.Contains(t, b.Log.String(), id.Payment.Of(b.Fee(d.ID).ID))
	b.Provider.Away(false)
	b.Clock.Add(5 * time.Minute)
	b.RequireCount(1, b.Payments.CheckDue)
	b.RequireStatus(d.ID, deposit.Active, "")
}

func TestReconcile_Collection_ChargesTheCardThatPaidTheFee(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	var asked paymentports.CollectRequest
	b.Provider.OnCollect(func(r paymentports.CollectRequest) (paymentports.ProviderPayment, error) {
		asked = r
		return b.Sandbox.Collect(b.Ctx(), r)
	})
	b.RequireCount(1, b.Payments.CheckDue)
	require.Equal(t, paymentports.CollectRequest{
		PaymentID: collectionID, FeePaymentID: b.Fee(depositID).ID, DepositID: depositID, Attempt: 1, Amount: 50_000,
		Description: "Claim of Les Gîtes d’Ada on the deposit, 16 Jun – 23 Jun 2026",
	}, asked)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
	require.Empty(t, b.Audit(t, depositID))
	b.RequireCount(0, b.Payments.CheckDue)
}

func TestReconcile_CollectionWhileTheProviderIsAway_IsNeverGivenUp(t *testing.T) {
	b := setup(t)
	depositID, _ := b.captured()
	b.Provider.Away(true)
	for range 30 {
		b.RequireCount(0, b.Payments.CheckDue)
		b.Clock.Add(5 * time.Minute)
	}
	require.Zero(t, b.collection(depositID).Attempts, "nobody refused anything")
	b.Provider.Away(false)
	b.RequireCount(1, b.Payments.CheckDue)
	require.Equal(t, deposit.PaymentSucceeded, b.collection(depositID).Status)
}

func TestReconcile_CollectionAnswerWasLost_ChargesOnce(t *testing.T) {
	b := setup(t)
	depositID, collectionID := b.captured()
	b.Provider.LoseAnswers(true)
	b.RequireCount(0, b.Payments.CheckDue)
	charged, err := b.Sandbox.Lookup(b.Ctx(), collectionID)
	require.NoError(t, err)
	b.Provider.LoseAnswers(false)
	b.Clock.Add(5 * time.Minute)
	b.RequireCount(1, b.Payments.CheckDue)
	require.Equal(t, charged.Ref, b.collection(depositID).ProviderRef)
}

// panicky panics when asked about the payment.
type panicky struct {
	paymentports.PaymentProvider
	about id.ID
}

func (p panicky) Lookup(ctx context.Context, paymentID id.ID) (paymentports.ProviderPayment, error) {
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
	b.RequireCount(1, broken.Payments.CheckDue)
	b.RequireStatus(good.ID, deposit.Active, "")
	b.RequireStatus(bad.ID, deposit.Pending, "")
	b.Clock.Add(time.Minute)
	b.RequireCount(1, b.Payments.CheckDue)
	b.RequireStatus(bad.ID, deposit.Active, "")
}
