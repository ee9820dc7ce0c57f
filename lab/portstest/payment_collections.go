package portstest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

const debt money.Cents = 50_000

// collections are the cases of ports.PaymentProvider about captured amounts.
var collections = map[string]func(*testing.T, Payments){
	"Collect_ChargesTheCardOnce":                         collectOnce,
	"Collect_WithoutACard_Fails":                         collectWithoutCard,
	"Collect_AgainAfterARefusal_GivesTheFirstAnswer":     collectSameAttempt,
	"Collect_LaterAttempt_ChargesAgain":                  collectLaterAttempt,
	"Collect_ACardThatWantsTheTenant_SaysSo":             collectNeedsTenant,
	"Collect_ManyAtOnce_GiveOneAnswer":                   collectManyAtOnce,
	"Collect_EndsThePageOfTheTenant":                     collectEndsPage,
	"Collect_AfterTheTenantPaid_ChargesNothing":          collectAfterPage,
	"Open_AfterARefusal_LetsTheTenantPay":                openAfterRefusal,
	"Open_OfACollectionAgain_GivesTheSamePage":           openCollectionAgain,
	"Open_OfACollectionThatIsPaid_LeadsBack":             openCollectionPaid,
	"Open_RacingCollect_LeavesOneOutcome":                openRacesCollect,
	"Close_AfterARefusal_RulesFurtherChargesOut":         closeAfterRefusal,
	"Close_OfThePageOfACollection_EndsIt":                closeCollectionPage,
	"Close_RacingCollect_HasOneOutcome":                  closeRacesCollect,
	"Lookup_OfACollection_TellsTheLastRefusalAndThePage": lookupCollection,
}

// owing makes a fee that the card has paid, and a request to collect.
func owing(t *testing.T, p Payments, card string) ports.CollectRequest {
	t.Helper()
	feeID := newPaymentID()
	mustOpen(t, p, feeID)
	p.Pay(t, feeID, card)
	requireStatus(t, p, feeID, ports.ProviderSucceeded)
	return ports.CollectRequest{
		PaymentID: newPaymentID(), FeePaymentID: feeID, DepositID: depositOf(feeID), Amount: debt, Description: "D-7K3M-9Q2X", Attempt: 1,
	}
}

func mustCollect(t *testing.T, p Payments, r ports.CollectRequest) ports.ProviderPayment {
	t.Helper()
	got, err := p.Provider.Collect(context.Background(), r)
	require.NoError(t, err)
	return got
}

func requireRefused(t *testing.T, got ports.ProviderPayment, want ports.Refusal) {
	t.Helper()
	require.Equal(t, ports.ProviderFailed, got.Status)
	require.Equal(t, want, got.Refusal)
	require.Regexp(t, `^[a-z_]+$`, got.Failure)
}

// pageFor is the request for a page on which the tenant pays a debt.
func pageFor(r ports.CollectRequest) ports.HostedPayment {
	return ports.HostedPayment{
		PaymentID: r.PaymentID, DepositID: r.DepositID, Kind: deposit.Collection, Amount: r.Amount, Description: r.Description,
		Email: "ada@example.com", Locale: "en", ReturnURL: returnURL,
	}
}

func mustOpenFor(t *testing.T, p Payments, r ports.CollectRequest) ports.HostedPage {
	t.Helper()
	page, err := p.Provider.Open(context.Background(), pageFor(r))
	require.NoError(t, err)
	return page
}

func collectOnce(t *testing.T, p Payments) {
	r := owing(t, p, GoodCard)
	first := mustCollect(t, p, r)
	require.Equal(t, ports.ProviderSucceeded, first.Status)
	require.NotEmpty(t, first.Ref)
	require.Equal(t, first, mustCollect(t, p, r))
	r.Attempt = 2
	require.Equal(t, first, mustCollect(t, p, r), "a debt is paid once")
	require.Equal(t, first, requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded))
}

func collectWithoutCard(t *testing.T, p Payments) {
	got := mustCollect(t, p, ports.CollectRequest{
		PaymentID: newPaymentID(), FeePaymentID: newPaymentID(), DepositID: newPaymentID(), Amount: debt, Description: "D-7K3M-9Q2X", Attempt: 1,
	})
	requireRefused(t, got, ports.RefusedForTenant)
}

func collectSameAttempt(t *testing.T, p Payments) {
	r := owing(t, p, LaterRefused)
	first := mustCollect(t, p, r)
	requireRefused(t, first, ports.RefusedForNow)
	p.Mend(t, r.FeePaymentID)
	require.Equal(t, first, mustCollect(t, p, r), "the attempt was answered")
}

func collectLaterAttempt(t *testing.T, p Payments) {
	r := owing(t, p, LaterRefused)
	requireRefused(t, mustCollect(t, p, r), ports.RefusedForNow)
	r.Attempt = 2
	requireRefused(t, mustCollect(t, p, r), ports.RefusedForNow)
	p.Mend(t, r.FeePaymentID)
	r.Attempt = 3
	require.Equal(t, ports.ProviderSucceeded, mustCollect(t, p, r).Status)
	requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded)
}

func collectNeedsTenant(t *testing.T, p Payments) {
	r := owing(t, p, WantsTenant)
	requireRefused(t, mustCollect(t, p, r), ports.RefusedForTenant)
}

func collectManyAtOnce(t *testing.T, p Payments) {
	r := owing(t, p, GoodCard)
	answers := make([]ports.ProviderPayment, 8)
	errs := make([]error, len(answers))
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i], errs[i] = p.Provider.Collect(context.Background(), r) })
	}
	wg.Wait()
	for i := range answers {
		require.NoError(t, errs[i])
		require.Equal(t, ports.ProviderSucceeded, answers[i].Status)
		require.Equal(t, answers[0], answers[i])
	}
}

func openAfterRefusal(t *testing.T, p Payments) {
	for _, card := range []string{LaterRefused, WantsTenant} {
		r := owing(t, p, card)
		mustCollect(t, p, r)
		require.NotEqual(t, returnURL, mustOpenFor(t, p, r).URL)
		requireStatus(t, p, r.PaymentID, ports.ProviderOpen)
		p.Pay(t, r.PaymentID, GoodCard)
		requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded)
	}
}

func openCollectionAgain(t *testing.T, p Payments) {
	r := owing(t, p, WantsTenant)
	mustCollect(t, p, r)
	require.Equal(t, mustOpenFor(t, p, r), mustOpenFor(t, p, r))
}

func openCollectionPaid(t *testing.T, p Payments) {
	r := owing(t, p, GoodCard)
	mustCollect(t, p, r)
	require.Equal(t, returnURL, mustOpenFor(t, p, r).URL)
	requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded)
}

func collectEndsPage(t *testing.T, p Payments) {
	r := owing(t, p, LaterRefused)
	mustCollect(t, p, r)
	mustOpenFor(t, p, r)
	r.Attempt = 2
	requireRefused(t, mustCollect(t, p, r), ports.RefusedForNow)
	p.Pay(t, r.PaymentID, GoodCard)
	requireStatus(t, p, r.PaymentID, ports.ProviderFailed)
	require.NotEqual(t, returnURL, mustOpenFor(t, p, r).URL, "another page takes its place")
	p.Mend(t, r.FeePaymentID)
	r.Attempt = 3
	require.Equal(t, ports.ProviderSucceeded, mustCollect(t, p, r).Status)
}

func collectAfterPage(t *testing.T, p Payments) {
	r := owing(t, p, LaterRefused)
	mustCollect(t, p, r)
	mustOpenFor(t, p, r)
	p.Pay(t, r.PaymentID, GoodCard)
	p.Mend(t, r.FeePaymentID)
	r.Attempt = 2
	got := mustCollect(t, p, r)
	require.Equal(t, ports.ProviderSucceeded, got.Status)
	require.Equal(t, got, requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded))
}

func closeAfterRefusal(t *testing.T, p Payments) {
	r := owing(t, p, LaterRefused)
	mustCollect(t, p, r)
	require.Equal(t, ports.ProviderClosed, mustClose(t, p, r.PaymentID).Status)
	p.Mend(t, r.FeePaymentID)
	r.Attempt = 2
	require.Equal(t, ports.ProviderClosed, mustCollect(t, p, r).Status)
	require.Equal(t, returnURL, mustOpenFor(t, p, r).URL)
	requireStatus(t, p, r.PaymentID, ports.ProviderClosed)
}

func closeCollectionPage(t *testing.T, p Payments) {
	r := owing(t, p, WantsTenant)
	mustCollect(t, p, r)
	mustOpenFor(t, p, r)
	require.Equal(t, ports.ProviderClosed, mustClose(t, p, r.PaymentID).Status)
	p.Pay(t, r.PaymentID, GoodCard)
	requireStatus(t, p, r.PaymentID, ports.ProviderClosed)
}

func lookupCollection(t *testing.T, p Payments) {
	r := owing(t, p, LaterRefused)
	requireStatus(t, p, r.PaymentID, ports.ProviderUnknown)
	first := mustCollect(t, p, r)
	require.Equal(t, first, requireStatus(t, p, r.PaymentID, ports.ProviderFailed))
	mustOpenFor(t, p, r)
	requireStatus(t, p, r.PaymentID, ports.ProviderOpen)
}

// busy reports whether a call may be refused because another call of the same payment was quicker.
func busy(err error) bool { return errors.Is(err, fault.ErrUnavailable) }

func openRacesCollect(t *testing.T, p Payments) {
	for range 5 {
		r := owing(t, p, LaterRefused)
		mustCollect(t, p, r)
		p.Mend(t, r.FeePaymentID)
		r.Attempt = 2
		var wg sync.WaitGroup
		var opened, collected error
		wg.Go(func() { _, opened = p.Provider.Open(context.Background(), pageFor(r)) })
		wg.Go(func() { _, collected = p.Provider.Collect(context.Background(), r) })
		wg.Wait()
		require.True(t, opened == nil || busy(opened), "%v", opened)
		require.True(t, collected == nil || busy(collected), "%v", collected)
		require.Equal(t, ports.ProviderSucceeded, mustCollect(t, p, r).Status)
		p.Pay(t, r.PaymentID, GoodCard)
		requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded)
	}
}

func closeRacesCollect(t *testing.T, p Payments) {
	for range 5 {
		r := owing(t, p, GoodCard)
		var wg sync.WaitGroup
		var closed ports.ProviderPayment
		var err, collected error
		wg.Go(func() { closed, err = p.Provider.Close(context.Background(), r.PaymentID) })
		wg.Go(func() { _, collected = p.Provider.Collect(context.Background(), r) })
		wg.Wait()
		require.NoError(t, err)
		require.True(t, collected == nil || busy(collected), "%v", collected)
		require.Contains(t, []ports.ProviderStatus{ports.ProviderClosed, ports.ProviderSucceeded}, closed.Status)
		requireStatus(t, p, r.PaymentID, closed.Status)
	}
}

// refunds are the cases of ports.PaymentProvider about money that is given back.
var refunds = map[string]func(*testing.T, Payments){
	"Refund_OfAPaidFee_GivesItBackOnce":        refundOnce,
	"Refund_OfParts_EndsAtTheAmount":           refundParts,
	"Refund_OfAPaymentThatIsNotPaid_IsRefused": refundUnpaid,
	"Refund_OfACollection_LeavesItSucceeded":   refundCollection,
}

func refundOf(paymentID id.ID, amount money.Cents) ports.RefundRequest {
	return ports.RefundRequest{RefundID: newPaymentID(), PaymentID: paymentID, DepositID: depositOf(paymentID), Amount: amount}
}

func mustRefund(t *testing.T, p Payments, r ports.RefundRequest) ports.ProviderRefund {
	t.Helper()
	got, err := p.Provider.Refund(context.Background(), r)
	require.NoError(t, err)
	return got
}

func refundOnce(t *testing.T, p Payments) {
	paid := owing(t, p, GoodCard).FeePaymentID
	r := refundOf(paid, fee)
	first := mustRefund(t, p, r)
	require.Equal(t, ports.RefundSucceeded, first.Status)
	require.NotEmpty(t, first.Ref)
	require.Equal(t, first, mustRefund(t, p, r))
	require.Equal(t, ports.RefundFailed, mustRefund(t, p, refundOf(paid, fee)).Status, "nothing is left")
}

func refundParts(t *testing.T, p Payments) {
	paid := owing(t, p, GoodCard).FeePaymentID
	require.Equal(t, ports.RefundSucceeded, mustRefund(t, p, refundOf(paid, 1_000)).Status)
	tooMuch := mustRefund(t, p, refundOf(paid, 751))
	require.Equal(t, ports.RefundFailed, tooMuch.Status)
	require.Equal(t, "amount_too_large", tooMuch.Failure)
	require.Equal(t, ports.RefundSucceeded, mustRefund(t, p, refundOf(paid, 750)).Status)
}

func refundUnpaid(t *testing.T, p Payments) {
	open := newPaymentID()
	mustOpen(t, p, open)
	for _, paymentID := range []id.ID{open, newPaymentID()} {
		got := mustRefund(t, p, refundOf(paymentID, fee))
		require.Equal(t, ports.RefundFailed, got.Status)
		require.Equal(t, "charge_not_paid", got.Failure)
	}
}

func refundCollection(t *testing.T, p Payments) {
	r := owing(t, p, GoodCard)
	mustCollect(t, p, r)
	require.Equal(t, ports.RefundSucceeded, mustRefund(t, p, refundOf(r.PaymentID, debt)).Status)
	requireStatus(t, p, r.PaymentID, ports.ProviderSucceeded)
	r.Attempt = 2
	require.Equal(t, ports.ProviderSucceeded, mustCollect(t, p, r).Status, "what was given back is not charged again")
}
