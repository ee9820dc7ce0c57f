package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/stripetest"
)

// Secrets of the payment provider, which occur nowhere else.
const (
	stripeKey     = "sk_test_key0of0this0run0alone"
	stripeSigning = "whsec_signing0secret0of0this0run"
)

// withStripe sets the installation up with a fake of Stripe that sends notices to http. Call withStripe before
// processes start.
func (w *deployment) withStripe(t testing.TB) *stripetest.Fake {
	t.Helper()
	fake := stripetest.Start(t,
		stripetest.Options{Webhooks: w.baseURL + "/webhooks/payments/stripe", Secret: stripeSigning})
	w.environ = append(w.environ, "PAYMENTS_PROVIDER=stripe", "STRIPE_API_BASE="+fake.URL(),
		"STRIPE_SECRET_KEY="+stripeKey, "STRIPE_WEBHOOK_SECRET="+stripeSigning,
		"COLLECTION_RETRY_SCHEDULE=0s")
	return fake
}

// Words of the tenant who pays at Stripe, which occur nowhere else.
const (
	tenantFirst = "Philippa"
	tenantLast  = "Quackenbush"
	tenantEmail = "philippa.quackenbush@example.net"
)

// openFee agrees at checkout, and gives the provider's page of the fee.
func openFee(t testing.TB, b *browser, checkoutURL string) page {
	t.Helper()
	hosted := b.submit(b.open(checkoutURL),
		url.Values{"firstName": {tenantFirst}, "lastName": {tenantLast}, "email": {tenantEmail}, "agree": {"yes"}})
	require.Equal(t, http.StatusOK, hosted.status, hosted.body)
	require.True(t, strings.HasPrefix(hosted.url.Path, "/pay/"), hosted.url.Path)
	return hosted
}

// payWith types a card on the provider's page, and follows the way back.
func payWith(b *browser, hosted page, card string) page {
	b.t.Helper()
	return b.submit(hosted, url.Values{"cardNumber": {card}, "cardExpiry": {"12/40"}, "cardCvc": {"123"}})
}

type shownCollection struct{ PaymentID, State string }

// awaitCollection waits for a state of the deposit's collection.
func (w *deployment) awaitCollection(t testing.TB, depositID, state string) (shown shownCollection) {
	t.Helper()
	require.Eventually(t, func() bool {
		var d struct {
			Data struct{ Collection struct{ Status string } }
		}
		w.api(t).get("/deposits/"+depositID, &d)
		return d.Data.Collection.Status == state
	}, soon, often, "the collection is %s", state)
	w.admin(t, &shown, "collection", "show", "--id", depositID)
	require.Equal(t, state, shown.State)
	return shown
}

// awaitDispute waits until the audit log has a dispute of the deposit.
func (w *deployment) awaitDispute(t testing.TB, depositID string) (audit string) {
	t.Helper()
	require.Eventually(t, func() bool {
		code, stdout, stderr := run(t, w.environ, "admin", "audit", "show", depositID, "--json")
		require.Zero(t, code, stderr)
		audit = stdout
		return strings.Contains(stdout, "payment.dispute")
	}, soon, often)
	return audit
}
