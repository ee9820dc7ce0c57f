// Package portstest is the contract of ports that several adapters implement, as tests. A suite takes a test and a function that sets
// up a fresh implementation:
//
//	func TestProvider(t *testing.T) {
//		portstest.PaymentProvider(t, func(t *testing.T) portstest.Payments { … })
//	}
package portstest

import (
	"context"
	"crypto/rand"
	"maps"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/ports"
)

const (
	fee       money.Cents = 1_750
	returnURL             = "https://pay.test/checkout/token/return"
)

// Test cards that every provider under test knows.
const (
	GoodCard     = "4242 4242 4242 4242"
	BadCard      = "4000 0000 0000 0002" // refused on the page
	LaterRefused = "4000 0000 0000 0341" // pays on the page; a charge without the tenant is refused for now
	WantsTenant  = "4000 0027 6000 3184" // pays on the page; a charge without the tenant needs the tenant
)

// Payments is a provider under test, with functions that act as the tenant and as the issuer of the card.
type Payments struct {
	Provider ports.PaymentProvider
	// Pay types a card on the open page of the payment. Without an open page Pay does nothing.
	Pay func(t *testing.T, paymentID id.ID, card string)
	// Mend makes the card that paid the fee good for later charges.
	Mend func(t *testing.T, feePaymentID id.ID)
	// RefusedStaysOpen: a page stays open after a refused card, so that the tenant may choose another.
	RefusedStaysOpen bool
}

// PaymentProvider tests an implementation of ports.PaymentProvider. setup gives a provider, whose books may hold payments of
// other tests.
func PaymentProvider(t *testing.T, setup func(t *testing.T) Payments) {
	t.Helper()
	checks := map[string]func(*testing.T, Payments){
		"Open_GivesAPageThatIsOpen":               openGivesAPage,
		"Open_Again_GivesTheSamePage":             openAgain,
		"Open_ManyAtOnce_MakesOnePage":            openManyAtOnce,
		"Open_OfAPaymentThatIsOver_LeadsBack":     openOver,
		"Lookup_OfAnUnknownPayment_SaysUnknown":   lookupUnknown,
		"Lookup_TellsWhatTheTenantDid":            lookupTells,
		"Close_OfAnOpenPage_EndsIt":               closeOpen,
		"Close_AfterThePayment_LeavesItSucceeded": closePaid,
		"Close_OfAnUnknownPayment_RulesItOut":     closeUnknown,
		"Close_Again_ChangesNothing":              closeAgain,
		"Close_RacingThePayment_HasOneOutcome":    closeRace,
	}
	maps.Copy(checks, collections)
	maps.Copy(checks, refunds)
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, setup(t))
		})
	}
}

// NewID gives a UUID v7.
func NewID() id.ID { return id.ID(uuid.Must(uuid.NewV7())) }

func newPaymentID() (out id.ID) {
	_, _ = rand.Read(out[:]) // crypto/rand never fails
	return out
}

func request(paymentID id.ID) ports.HostedPayment {
	return ports.HostedPayment{
		PaymentID: paymentID, DepositID: depositOf(paymentID), Kind: deposit.FeePayment, Amount: fee, Description: "D-7K3M-9Q2X",
		Email: "ada@example.com", Locale: "fr", ReturnURL: returnURL,
	}
}

// depositOf makes up the deposit of a payment.
func depositOf(paymentID id.ID) id.ID {
	paymentID[0] ^= 1
	return paymentID
}

func mustOpen(t *testing.T, p Payments, paymentID id.ID) ports.HostedPage {
	t.Helper()
	page, err := p.Provider.Open(context.Background(), request(paymentID))
	require.NoError(t, err)
	return page
}

func requireStatus(t *testing.T, p Payments, paymentID id.ID, want ports.ProviderStatus) ports.ProviderPayment {
	t.Helper()
	got, err := p.Provider.Lookup(context.Background(), paymentID)
	require.NoError(t, err)
	require.Equal(t, want, got.Status)
	return got
}

func openGivesAPage(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	page := mustOpen(t, p, paymentID)
	require.NotEmpty(t, page.Ref)
	require.NotEmpty(t, page.URL)
	require.NotEqual(t, returnURL, page.URL)
	require.Equal(t, page.Ref, requireStatus(t, p, paymentID, ports.ProviderOpen).Ref)
}

func openAgain(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	require.Equal(t, mustOpen(t, p, paymentID), mustOpen(t, p, paymentID))
	require.NotEqual(t, mustOpen(t, p, paymentID), mustOpen(t, p, newPaymentID()))
}

func openManyAtOnce(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	pages := make([]ports.HostedPage, 10)
	errs := make([]error, len(pages))
	var wg sync.WaitGroup
	for i := range pages {
		wg.Go(func() { pages[i], errs[i] = p.Provider.Open(context.Background(), request(paymentID)) })
	}
	wg.Wait()
	for i := range pages {
		require.NoError(t, errs[i])
		require.Equal(t, pages[0], pages[i])
	}
}

func openOver(t *testing.T, p Payments) {
	paid, refused := newPaymentID(), newPaymentID()
	page := mustOpen(t, p, refused)
	mustOpen(t, p, paid)
	p.Pay(t, paid, GoodCard)
	p.Pay(t, refused, BadCard)
	require.Equal(t, returnURL, mustOpen(t, p, paid).URL)
	if p.RefusedStaysOpen {
		require.Equal(t, page, mustOpen(t, p, refused))
	} else {
		require.Equal(t, returnURL, mustOpen(t, p, refused).URL)
	}
}

func lookupUnknown(t *testing.T, p Payments) {
	requireStatus(t, p, newPaymentID(), ports.ProviderUnknown)
}

func lookupTells(t *testing.T, p Payments) {
	paid, refused := newPaymentID(), newPaymentID()
	mustOpen(t, p, paid)
	mustOpen(t, p, refused)
	p.Pay(t, paid, GoodCard)
	p.Pay(t, refused, BadCard)
	require.Empty(t, requireStatus(t, p, paid, ports.ProviderSucceeded).Failure)
	if p.RefusedStaysOpen {
		requireStatus(t, p, refused, ports.ProviderOpen)
		p.Pay(t, refused, GoodCard)
		requireStatus(t, p, refused, ports.ProviderSucceeded)
	} else {
		require.NotEmpty(t, requireStatus(t, p, refused, ports.ProviderFailed).Failure)
	}
}

func mustClose(t *testing.T, p Payments, paymentID id.ID) ports.ProviderPayment {
	t.Helper()
	got, err := p.Provider.Close(context.Background(), paymentID)
	require.NoError(t, err)
	return got
}

func closeOpen(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	mustOpen(t, p, paymentID)
	require.Equal(t, ports.ProviderClosed, mustClose(t, p, paymentID).Status)
	p.Pay(t, paymentID, GoodCard)
	requireStatus(t, p, paymentID, ports.ProviderClosed)
}

func closePaid(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	mustOpen(t, p, paymentID)
	p.Pay(t, paymentID, GoodCard)
	require.Equal(t, ports.ProviderSucceeded, mustClose(t, p, paymentID).Status)
	requireStatus(t, p, paymentID, ports.ProviderSucceeded)
}

// A delayed request to open a page may arrive after the payment was closed.
func closeUnknown(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	require.Contains(t, []ports.ProviderStatus{ports.ProviderClosed, ports.ProviderUnknown}, mustClose(t, p, paymentID).Status)
	require.Equal(t, returnURL, mustOpen(t, p, paymentID).URL)
	p.Pay(t, paymentID, GoodCard)
	require.Equal(t, ports.ProviderClosed, mustClose(t, p, paymentID).Status)
}

func closeAgain(t *testing.T, p Payments) {
	paymentID := newPaymentID()
	mustOpen(t, p, paymentID)
	require.Equal(t, mustClose(t, p, paymentID), mustClose(t, p, paymentID))
}

func closeRace(t *testing.T, p Payments) {
	for range 10 {
		paymentID := newPaymentID()
		mustOpen(t, p, paymentID)
		var wg sync.WaitGroup
		var closed ports.ProviderPayment
		var err error
		wg.Go(func() { p.Pay(t, paymentID, GoodCard) })
		wg.Go(func() { closed, err = p.Provider.Close(context.Background(), paymentID) })
		wg.Wait()
		require.NoError(t, err)
		requireStatus(t, p, paymentID, closed.Status)
	}
}
