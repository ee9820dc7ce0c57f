// Package portstest tests adapters of ports that have several implementations: all of them must behave in the same
// way. A suite takes a test and a function that sets up a fresh implementation:
//
//	func TestProvider(t *testing.T) {
//		portstest.RequirePaymentProvider(t, func(t *testing.T) portstest.ProviderUnderTest { … })
//	}
package portstest

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	paymentports "partnerdeposits/ports/payments"
)

const (
	fee       money.Cents = 1_750
	returnURL             = "https://pay.test/checkout/token/return"
)

// Test cards that every payment provider under test supports.
const (
	AcceptedCardNumber = "4242 4242 4242 4242"
	// RefusedCardNumber is refused on the payment page.
	RefusedCardNumber = "4000 0000 0000 0002"
	// LaterRefusedCardNumber pays on the payment page; a later charge without the tenant is refused.
	LaterRefusedCardNumber = "4000 0000 0000 0341"
	// ConfirmationNeededCardNumber pays on the payment page; the tenant must confirm a later charge.
	ConfirmationNeededCardNumber = "4000 0027 6000 3184"
)

// ProviderUnderTest is a payment provider with functions that act as the tenant and as the card's issuer.
type ProviderUnderTest struct {
	Provider paymentports.PaymentProvider
	// Pay enters a card on a payment's open page. Without an open page it does nothing.
	Pay func(t *testing.T, paymentID id.ID, card string)
	// Mend makes the card that paid a fee good for later charges.
	Mend func(t *testing.T, feePaymentID id.ID)
	// Now is the time of the payment provider's clock; Pass moves it ahead.
	Now  func() time.Time
	Pass func(d time.Duration)
	// RefusedStaysOpen reports whether a payment page stays open after a refused card.
	RefusedStaysOpen bool
}

// RequirePaymentProvider tests the paymentports.PaymentProvider that setup returns, which may hold payments of
// other tests.
func RequirePaymentProvider(t *testing.T, setup func(t *testing.T) ProviderUnderTest) {
	t.Helper()
	all := maps.Clone(pages)
	maps.Copy(all, collections)
	maps.Copy(all, refunds)
	for name, check := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, setup(t))
		})
	}
}

func NewID() id.ID { return id.ID(uuid.Must(uuid.NewV7())) }

func request(paymentID id.ID) paymentports.HostedPageRequest {
	return paymentports.HostedPageRequest{
		PaymentID: paymentID, DepositID: depositOf(paymentID), Kind: deposit.PaymentKindFee, Amount: fee,
		Description: "D-7K3M-9Q2X",
		Email:       "ada@example.com", Locale: "fr", ReturnURL: returnURL,
	}
}

// depositOf makes up the deposit id of a payment.
func depositOf(paymentID id.ID) id.ID {
	paymentID[0] ^= 1
	return paymentID
}

// must calls the payment provider; an error fails the test.
func must[R, T any](t *testing.T, call func(context.Context, R) (T, error), r R) T {
	t.Helper()
	got, err := call(context.Background(), r)
	require.NoError(t, err)
	return got
}

// mustAgree makes the same call of the payment provider several times at once. Different answers fail the test.
func mustAgree[R, T any](t *testing.T, times int, call func(context.Context, R) (T, error), r R) T {
	t.Helper()
	answers, errs := make([]T, times), make([]error, times)
	var wg sync.WaitGroup
	for i := range times {
		wg.Go(func() { answers[i], errs[i] = call(context.Background(), r) })
	}
	wg.Wait()
	for i := range times {
		require.NoError(t, errs[i])
		require.Equal(t, answers[0], answers[i])
	}
	return answers[0]
}

func requireStatus(t *testing.T, p ProviderUnderTest, paymentID id.ID,
	want paymentports.ProviderPaymentStatus) paymentports.ProviderPayment {
	t.Helper()
	got := must(t, p.Provider.LookupPayment, paymentID)
	require.Equal(t, want, got.Status)
	return got
}

// pages are test cases about tenants' payment pages, for every paymentports.PaymentProvider.
var pages = map[string]func(*testing.T, ProviderUnderTest){
	"Open_GivesAPageThatIsOpen_AgainTheSame": func(t *testing.T, p ProviderUnderTest) {
		paymentID := NewID()
		requireStatus(t, p, paymentID, paymentports.ProviderPaymentUnknown)
		page := must(t, p.Provider.OpenPage, request(paymentID))
		require.NotEmpty(t, page.Ref)
		require.NotEmpty(t, page.URL)
		require.NotEqual(t, returnURL, page.URL)
		require.Equal(t, page.Ref, requireStatus(t, p, paymentID, paymentports.ProviderPaymentOpen).Ref)
		require.Equal(t, page, must(t, p.Provider.OpenPage, request(paymentID)))
		require.NotEqual(t, page, must(t, p.Provider.OpenPage, request(NewID())))
	},
	"Open_ManyAtOnce_MakesOnePage": func(t *testing.T, p ProviderUnderTest) {
		mustAgree(t, 10, p.Provider.OpenPage, request(NewID()))
	},
	"Open_OfAPaymentThatIsOver_LeadsBack": func(t *testing.T, p ProviderUnderTest) {
		paid, refused := NewID(), NewID()
		page := must(t, p.Provider.OpenPage, request(refused))
		must(t, p.Provider.OpenPage, request(paid))
		p.Pay(t, paid, AcceptedCardNumber)
		p.Pay(t, refused, RefusedCardNumber)
		require.Equal(t, returnURL, must(t, p.Provider.OpenPage, request(paid)).URL)
		if p.RefusedStaysOpen {
			require.Equal(t, page, must(t, p.Provider.OpenPage, request(refused)))
		} else {
			require.Equal(t, returnURL, must(t, p.Provider.OpenPage, request(refused)).URL)
		}
	},
	"Lookup_TellsWhatTheTenantDid": func(t *testing.T, p ProviderUnderTest) {
		paid, refused := NewID(), NewID()
		must(t, p.Provider.OpenPage, request(paid))
		must(t, p.Provider.OpenPage, request(refused))
		p.Pay(t, paid, AcceptedCardNumber)
		p.Pay(t, refused, RefusedCardNumber)
		require.Empty(t, requireStatus(t, p, paid, paymentports.ProviderPaymentSucceeded).Failure)
		if p.RefusedStaysOpen {
			requireStatus(t, p, refused, paymentports.ProviderPaymentOpen)
			p.Pay(t, refused, AcceptedCardNumber)
			requireStatus(t, p, refused, paymentports.ProviderPaymentSucceeded)
		} else {
			require.NotEmpty(t, requireStatus(t, p, refused, paymentports.ProviderPaymentFailed).Failure)
		}
	},
	"Close_OfAnOpenPage_EndsIt_AndAgainChangesNothing": func(t *testing.T, p ProviderUnderTest) {
		paymentID := NewID()
		must(t, p.Provider.OpenPage, request(paymentID))
		closed := must(t, p.Provider.ClosePayment, paymentID)
		require.Equal(t, paymentports.ProviderPaymentClosed, closed.Status)
		p.Pay(t, paymentID, AcceptedCardNumber)
		requireStatus(t, p, paymentID, paymentports.ProviderPaymentClosed)
		require.Equal(t, closed, must(t, p.Provider.ClosePayment, paymentID))
	},
	"Close_AfterThePayment_LeavesItSucceeded": func(t *testing.T, p ProviderUnderTest) {
		paymentID := NewID()
		must(t, p.Provider.OpenPage, request(paymentID))
		p.Pay(t, paymentID, AcceptedCardNumber)
		require.Equal(t, paymentports.ProviderPaymentSucceeded, must(t, p.Provider.ClosePayment, paymentID).Status)
		requireStatus(t, p, paymentID, paymentports.ProviderPaymentSucceeded)
	},
	"Close_OfAnUnknownPayment_RulesItOut": func(t *testing.T, p ProviderUnderTest) {
		// A delayed request to open a payment page may arrive after the payment was closed.
		paymentID := NewID()
		status := must(t, p.Provider.ClosePayment, paymentID).Status
		require.Contains(t, []paymentports.ProviderPaymentStatus{paymentports.ProviderPaymentClosed,
			paymentports.ProviderPaymentUnknown}, status)
		require.Equal(t, returnURL, must(t, p.Provider.OpenPage, request(paymentID)).URL)
		p.Pay(t, paymentID, AcceptedCardNumber)
		require.Equal(t, paymentports.ProviderPaymentClosed, must(t, p.Provider.ClosePayment, paymentID).Status)
	},
	"PaidAt_IsWhenTheTenantPaid_NotWhenThePageWasOpenedOrIsAskedAbout": func(t *testing.T, p ProviderUnderTest) {
		for name, ask := range map[string]func(context.Context, id.ID) (paymentports.ProviderPayment, error){
			"lookup": p.Provider.LookupPayment, "close": p.Provider.ClosePayment,
		} {
			paymentID := NewID()
			must(t, p.Provider.OpenPage, request(paymentID))
			require.Zero(t, requireStatus(t, p, paymentID, paymentports.ProviderPaymentOpen).PaidAt)
			p.Pass(10 * time.Minute)
			if p.RefusedStaysOpen {
				p.Pay(t, paymentID, RefusedCardNumber)
				p.Pass(10 * time.Minute)
			}
			// A payment provider may report times without fractions of a second.
			before := p.Now().Truncate(time.Second)
			p.Pay(t, paymentID, AcceptedCardNumber)
			after := p.Now()
			p.Pass(10 * time.Minute)
			first := must(t, ask, paymentID)
			require.Equal(t, paymentports.ProviderPaymentSucceeded, first.Status)
			require.False(t, first.PaidAt.Before(before) || first.PaidAt.After(after), "%s: %v is not from %v to %v", name,
				first.PaidAt, before, after)
			require.Equal(t, first, must(t, p.Provider.LookupPayment, paymentID), "from its own books too")
			require.Equal(t, first, must(t, p.Provider.ClosePayment, paymentID))
		}
	},
	"Open_WithAnEnd_GivesAPageHoweverSoonTheEndIs": func(t *testing.T, p ProviderUnderTest) {
		for _, left := range []time.Duration{90 * 24 * time.Hour, 2 * time.Hour, 30 * time.Minute, time.Second, -time.Hour} {
			r := request(NewID())
			r.EndsAt = p.Now().Add(left)
			page := must(t, p.Provider.OpenPage, r)
			require.NotEqual(t, returnURL, page.URL, left)
			require.Equal(t, page, must(t, p.Provider.OpenPage, r), left)
			require.Equal(t, paymentports.ProviderPaymentClosed, must(t, p.Provider.ClosePayment, r.PaymentID).Status, left)
		}
	},
	"Close_RacingThePayment_HasOneOutcome": func(t *testing.T, p ProviderUnderTest) {
		for range 10 {
			paymentID := NewID()
			must(t, p.Provider.OpenPage, request(paymentID))
			var wg sync.WaitGroup
			var closed paymentports.ProviderPayment
			var err error
			wg.Go(func() { p.Pay(t, paymentID, AcceptedCardNumber) })
			wg.Go(func() { closed, err = p.Provider.ClosePayment(context.Background(), paymentID) })
			wg.Wait()
			require.NoError(t, err)
			requireStatus(t, p, paymentID, closed.Status)
		}
	},
}
