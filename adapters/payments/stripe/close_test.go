package stripe_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

// hook is a transport that runs a function before the request that it waits for.
type hook struct {
	path string
	once sync.Once
	run  func()
}

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, h.path) {
		h.once.Do(h.run)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestClose_WhileACollectionIsPrepared_LetsNothingBeMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fee := feeRequest()
	b.fake.Pay(t, b.open(fee).URL, "4242424242424242") // nobody has looked: the card is asked for during Collect
	r := paymentports.CollectRequest{PaymentID: newID(), FeePaymentID: fee.PaymentID, DepositID: fee.DepositID,
		Amount: 50_000, Description: "D", Attempt: 1}
	slow := b.with(
		&hook{path: sessions, run: func() { require.Equal(t, paymentports.ProviderClosed, b.close(r.PaymentID).Status) }})
	got, err := slow.Collect(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, paymentports.ProviderClosed, got.Status)
	require.Empty(t, b.sent("POST", intents))
	b.charged(r.PaymentID, 0)
}

func TestClose_WhileAPageIsMade_LeavesNoPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := feeRequest()
	slow := b.with(
		&hook{path: sessions, run: func() { require.Equal(t, paymentports.ProviderClosed, b.close(r.PaymentID).Status) }})
	page, err := slow.Open(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, backURL, page.URL)
	b.fake.Pay(t, b.fake.PageOf(id.Payment.Of(r.PaymentID)), "4242424242424242")
	b.charged(r.PaymentID, 0)
}
