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
	paymentports "partnerdeposits/ports/payments"
)

const debt money.Cents = 50_000

// collections are test cases about collecting captured amounts, for every paymentports.PaymentProvider.
var collections = map[string]func(*testing.T, ProviderUnderTest){
	"Collect_ChargesTheCardOnce": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, AcceptedCardNumber)
		first := must(t, p.Provider.ChargeStoredCard, r)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, first.Status)
		require.NotEmpty(t, first.Ref)
		require.Equal(t, first, must(t, p.Provider.ChargeStoredCard, r))
		r.Attempt = 2
		require.Equal(t, first, must(t, p.Provider.ChargeStoredCard, r), "a debt is paid once")
		require.Equal(t, returnURL, must(t, p.Provider.OpenPage, pageFor(r)).URL, "no page asks for it again")
		require.Equal(t, first, requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentSucceeded))
	},
	"Collect_WithoutACard_Fails": func(t *testing.T, p ProviderUnderTest) {
		got := must(t, p.Provider.ChargeStoredCard, paymentports.CollectRequest{
			PaymentID: NewID(), FeePaymentID: NewID(), DepositID: NewID(), Amount: debt,
			Description: "D-7K3M-9Q2X", Attempt: 1,
		})
		requireRefused(t, got, paymentports.ChargeRefusedUntilTenantActs)
	},
	"Collect_AgainAfterARefusal_GivesTheFirstAnswer_AndALaterAttemptCharges": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, LaterRefusedCardNumber)
		requireRefused(t, must(t, p.Provider.ChargeStoredCard, r), paymentports.ChargeRefusedForNow)
		r.Attempt = 2
		second := must(t, p.Provider.ChargeStoredCard, r)
		requireRefused(t, second, paymentports.ChargeRefusedForNow)
		p.Mend(t, r.FeePaymentID)
		require.Equal(t, second, must(t, p.Provider.ChargeStoredCard, r), "the attempt was answered")
		r.Attempt = 3
		require.Equal(t, paymentports.ProviderPaymentSucceeded, must(t, p.Provider.ChargeStoredCard, r).Status)
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentSucceeded)
	},
	"Collect_ManyAtOnce_GiveOneAnswer": func(t *testing.T, p ProviderUnderTest) {
		got := mustAgree(t, 8, p.Provider.ChargeStoredCard, owing(t, p, AcceptedCardNumber))
		require.Equal(t, paymentports.ProviderPaymentSucceeded, got.Status)
	},
	"Collect_EndsThePageOfTheTenant": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, LaterRefusedCardNumber)
		must(t, p.Provider.ChargeStoredCard, r)
		must(t, p.Provider.OpenPage, pageFor(r))
		r.Attempt = 2
		requireRefused(t, must(t, p.Provider.ChargeStoredCard, r), paymentports.ChargeRefusedForNow)
		p.Pay(t, r.PaymentID, AcceptedCardNumber)
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentFailed)
		require.NotEqual(t, returnURL, must(t, p.Provider.OpenPage, pageFor(r)).URL, "another page takes its place")
		p.Mend(t, r.FeePaymentID)
		r.Attempt = 3
		require.Equal(t, paymentports.ProviderPaymentSucceeded, must(t, p.Provider.ChargeStoredCard, r).Status)
	},
	"Collect_AfterTheTenantPaid_ChargesNothing": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, LaterRefusedCardNumber)
		must(t, p.Provider.ChargeStoredCard, r)
		must(t, p.Provider.OpenPage, pageFor(r))
		p.Pay(t, r.PaymentID, AcceptedCardNumber)
		p.Mend(t, r.FeePaymentID)
		r.Attempt = 2
		got := must(t, p.Provider.ChargeStoredCard, r)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, got.Status)
		require.Equal(t, got, requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentSucceeded))
	},
	"Open_AfterARefusal_LetsTheTenantPay": func(t *testing.T, p ProviderUnderTest) {
		for card, refusal := range map[string]paymentports.ChargeRefusalKind{
			LaterRefusedCardNumber:       paymentports.ChargeRefusedForNow,
			ConfirmationNeededCardNumber: paymentports.ChargeRefusedUntilTenantActs,
		} {
			r := owing(t, p, card)
			requireRefused(t, must(t, p.Provider.ChargeStoredCard, r), refusal)
			page := must(t, p.Provider.OpenPage, pageFor(r))
			require.NotEqual(t, returnURL, page.URL)
			require.Equal(t, page, must(t, p.Provider.OpenPage, pageFor(r)), "again the same")
			requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentOpen)
			p.Pay(t, r.PaymentID, AcceptedCardNumber)
			requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentSucceeded)
		}
	},
	"Open_RacingCollect_LeavesOneOutcome": func(t *testing.T, p ProviderUnderTest) {
		for range 5 {
			r := owing(t, p, LaterRefusedCardNumber)
			must(t, p.Provider.ChargeStoredCard, r)
			p.Mend(t, r.FeePaymentID)
			r.Attempt = 2
			var wg sync.WaitGroup
			var opened, collected error
			wg.Go(func() { _, opened = p.Provider.OpenPage(context.Background(), pageFor(r)) })
			wg.Go(func() { _, collected = p.Provider.ChargeStoredCard(context.Background(), r) })
			wg.Wait()
			require.True(t, opened == nil || busy(opened), "%v", opened)
			require.True(t, collected == nil || busy(collected), "%v", collected)
			require.Equal(t, paymentports.ProviderPaymentSucceeded, must(t, p.Provider.ChargeStoredCard, r).Status)
			p.Pay(t, r.PaymentID, AcceptedCardNumber)
			requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentSucceeded)
		}
	},
	"Close_AfterARefusal_RulesFurtherChargesOut": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, LaterRefusedCardNumber)
		must(t, p.Provider.ChargeStoredCard, r)
		require.Equal(t, paymentports.ProviderPaymentClosed, must(t, p.Provider.ClosePayment, r.PaymentID).Status)
		p.Mend(t, r.FeePaymentID)
		r.Attempt = 2
		require.Equal(t, paymentports.ProviderPaymentClosed, must(t, p.Provider.ChargeStoredCard, r).Status)
		require.Equal(t, returnURL, must(t, p.Provider.OpenPage, pageFor(r)).URL)
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentClosed)
	},
	"Close_OfThePageOfACollection_EndsIt": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, ConfirmationNeededCardNumber)
		must(t, p.Provider.ChargeStoredCard, r)
		must(t, p.Provider.OpenPage, pageFor(r))
		require.Equal(t, paymentports.ProviderPaymentClosed, must(t, p.Provider.ClosePayment, r.PaymentID).Status)
		p.Pay(t, r.PaymentID, AcceptedCardNumber)
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentClosed)
	},
	"Close_RacingCollect_HasOneOutcome": func(t *testing.T, p ProviderUnderTest) {
		for range 5 {
			r := owing(t, p, AcceptedCardNumber)
			var wg sync.WaitGroup
			var closed paymentports.ProviderPayment
			var err, collected error
			wg.Go(func() { closed, err = p.Provider.ClosePayment(context.Background(), r.PaymentID) })
			wg.Go(func() { _, collected = p.Provider.ChargeStoredCard(context.Background(), r) })
			wg.Wait()
			require.NoError(t, err)
			require.True(t, collected == nil || busy(collected), "%v", collected)
			require.Contains(t, []paymentports.ProviderPaymentStatus{paymentports.ProviderPaymentClosed,
				paymentports.ProviderPaymentSucceeded},
				closed.Status)
			requireStatus(t, p, r.PaymentID, closed.Status)
		}
	},
	"Lookup_OfACollection_TellsTheLastRefusalAndThePage": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, LaterRefusedCardNumber)
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentUnknown)
		first := must(t, p.Provider.ChargeStoredCard, r)
		require.Equal(t, first, requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentFailed))
		must(t, p.Provider.OpenPage, pageFor(r))
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentOpen)
	},
}

// owing pays a fee with a card, and returns a request to collect a captured amount from it.
func owing(t *testing.T, p ProviderUnderTest, card string) paymentports.CollectRequest {
	t.Helper()
	feeID := NewID()
	must(t, p.Provider.OpenPage, request(feeID))
	p.Pay(t, feeID, card)
	requireStatus(t, p, feeID, paymentports.ProviderPaymentSucceeded)
	return paymentports.CollectRequest{
		PaymentID: NewID(), FeePaymentID: feeID, DepositID: depositOf(feeID), Amount: debt, Description: "D-7K3M-9Q2X",
		Attempt: 1,
	}
}

func requireRefused(t *testing.T, got paymentports.ProviderPayment, want paymentports.ChargeRefusalKind) {
	t.Helper()
	require.Equal(t, paymentports.ProviderPaymentFailed, got.Status)
	require.Equal(t, want, got.Refusal)
	require.Regexp(t, `^[a-z_]+$`, got.Failure)
}

// pageFor returns the request for the payment page of a captured amount.
func pageFor(r paymentports.CollectRequest) paymentports.HostedPageRequest {
	page := request(r.PaymentID)
	page.DepositID, page.Kind, page.Amount, page.Locale = r.DepositID, deposit.PaymentKindCollection, r.Amount, "en"
	return page
}

// busy reports whether an error means that another call about the same payment was quicker (ErrUnavailable).
func busy(err error) bool { return errors.Is(err, fault.ErrUnavailable) }

// refunds are test cases about refunds, for every paymentports.PaymentProvider.
var refunds = map[string]func(*testing.T, ProviderUnderTest){
	"Refund_OfAPaidFee_GivesItBackOnce": func(t *testing.T, p ProviderUnderTest) {
		paid := owing(t, p, AcceptedCardNumber).FeePaymentID
		r := refundOf(paid, fee)
		first := must(t, p.Provider.Refund, r)
		require.Equal(t, paymentports.RefundSucceeded, first.Status)
		require.NotEmpty(t, first.Ref)
		require.Equal(t, first, must(t, p.Provider.Refund, r))
		require.Equal(t, paymentports.RefundFailed, must(t, p.Provider.Refund, refundOf(paid, fee)).Status, "nothing is left")
	},
	"Refund_OfParts_EndsAtTheAmount": func(t *testing.T, p ProviderUnderTest) {
		paid := owing(t, p, AcceptedCardNumber).FeePaymentID
		require.Equal(t, paymentports.RefundSucceeded, must(t, p.Provider.Refund, refundOf(paid, 1_000)).Status)
		tooMuch := must(t, p.Provider.Refund, refundOf(paid, 751))
		require.Equal(t, paymentports.RefundFailed, tooMuch.Status)
		require.Equal(t, "amount_too_large", tooMuch.Failure)
		require.Equal(t, paymentports.RefundSucceeded, must(t, p.Provider.Refund, refundOf(paid, 750)).Status)
	},
	"Refund_OfAPaymentThatIsNotPaid_IsRefused": func(t *testing.T, p ProviderUnderTest) {
		open := NewID()
		must(t, p.Provider.OpenPage, request(open))
		for _, paymentID := range []id.ID{open, NewID()} {
			got := must(t, p.Provider.Refund, refundOf(paymentID, fee))
			require.Equal(t, paymentports.RefundFailed, got.Status)
			require.Equal(t, "charge_not_paid", got.Failure)
		}
	},
	"Refund_OfACollection_LeavesItSucceeded": func(t *testing.T, p ProviderUnderTest) {
		r := owing(t, p, AcceptedCardNumber)
		must(t, p.Provider.ChargeStoredCard, r)
		require.Equal(t, paymentports.RefundSucceeded, must(t, p.Provider.Refund, refundOf(r.PaymentID, debt)).Status)
		requireStatus(t, p, r.PaymentID, paymentports.ProviderPaymentSucceeded)
		r.Attempt = 2
		again := must(t, p.Provider.ChargeStoredCard, r)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, again.Status, "what was given back is not charged again")
	},
}

func refundOf(paymentID id.ID, amount money.Cents) paymentports.RefundRequest {
	return paymentports.RefundRequest{RefundID: NewID(), PaymentID: paymentID, DepositID: depositOf(paymentID),
		Amount: amount}
}
