package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/stripetest"
)

// stay takes a tenant through checkout with a card.
func (r *secretRun) stay(t *testing.T, accountID, card string) (depositID, checkoutURL string) {
	t.Helper()
	depositID, checkoutURL = r.deposit(t, accountID)
	r.secrets.add(t, "checkout token", checkoutURL[strings.LastIndexByte(checkoutURL, '/')+1:])
	b := newBrowser(t)
	hosted := openFee(t, b, checkoutURL)
	r.pageOfProvider(t, hosted)
	r.secrets.add(t, "card", card, strings.ReplaceAll(card, " ", ""))
	require.Equal(t, "partner.example", payWith(b, hosted, card).url.Host)
	return depositID, checkoutURL
}

func (r *secretRun) pageOfProvider(t *testing.T, hosted page) {
	t.Helper()
	r.secrets.add(t, "page of the provider", hosted.url.String(), hosted.url.Path)
}

// refusedOnce lets the card be refused, and the tenant pay on the provider's page.
func (r *secretRun) refusedOnce(t *testing.T, fake *stripetest.Fake, accountID string) {
	t.Helper()
	depositID, checkoutURL := r.stay(t, accountID, "5555 5555 5555 4444")
	fake.OffSession(depositID, stripetest.Outcome{DeclineCode: "lost_card", AdviceCode: "do_not_try_again"})
	r.capture(t, depositID)
	r.awaitCollection(t, depositID, "awaiting_tenant")
	b := newBrowser(t)
	hosted := b.act(b.open(checkoutURL), "pay", nil)
	require.True(t, strings.HasPrefix(hosted.url.Path, "/pay/"), hosted.body)
	r.pageOfProvider(t, hosted)
	r.secrets.add(t, "card", "4000 0000 0000 0002", "4000000000000002")
	refused := payWith(b, hosted, "4000 0000 0000 0002")
	require.Equal(t, http.StatusPaymentRequired, refused.status)
	refused.status = http.StatusOK // the page stays open for another card
	payWith(b, refused, "4242 4242 4242 4242")
	r.awaitCollection(t, depositID, "paid")
}

func (r *secretRun) capture(t *testing.T, depositID string) {
	t.Helper()
	r.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
}

// returnTokens adds the tokens of the pages to which the provider leads tenants back.
func (r *secretRun) returnTokens(t *testing.T, fake *stripetest.Fake) {
	t.Helper()
	for _, request := range fake.Requests() {
		if at := request.Params.Get("success_url"); at != "" {
			_, rest, _ := strings.Cut(at, "/checkout/")
			token, _, ok := strings.Cut(rest, "/return")
			require.True(t, ok, at)
			r.secrets.add(t, "return token", token)
		}
	}
}

// TestSecrets_ARunWithStripe_ShowsNoneInAnyOutput reads all outputs of processes that log everything, and of the
// commands of staff, after a fee, a charge, a refusal, the tenant's page, a refund and a dispute.
func TestSecrets_ARunWithStripe_ShowsNoneInAnyOutput(t *testing.T) {
	t.Parallel()
	r := openSecretRun(t)
	fake := r.withStripe(t)
	r.secrets.add(t, "STRIPE_SECRET_KEY", stripeKey)
	r.secrets.add(t, "STRIPE_WEBHOOK_SECRET", stripeSigning)
	r.secrets.add(t, "client secret", "_secret_")
	r.secrets.add(t, "tenant", tenantFirst, tenantLast, tenantEmail)
	r.begin(t)
	account := r.link(t, "villa-73")
	hook := newReceiver(t)
	r.subscribe(t, hook, "deposit.captured")
	r.secrets.add(t, "webhook secret", hook.Secret())

	depositID, _ := r.stay(t, account, "4242 4242 4242 4242")
	r.capture(t, depositID)
	collection := r.awaitCollection(t, depositID, "paid")
	code, stdout, stderr := run(t, r.environ, "admin", "collection", "refund", "--id", depositID, "--amount", "20.50",
		"--json")
	require.Zero(t, code, stderr)
	require.True(t, fake.Dispute(collection.PaymentID, "fraudulent"))
	r.awaitDispute(t, depositID)
	r.refusedOnce(t, fake, account)
	r.returnTokens(t, fake)
	hook.await(t, 2)

	outputs := r.outputs(t)
	outputs["admin collection refund"] = stdout + stderr
	for output, holds := range map[string]string{ // each output is the real one
		"stderr of http": "/webhooks/payments/stripe", "stderr of dispatcher": "delivery attempted",
		"http/metrics":       "svc_http_requests_total",
		"dispatcher/metrics": "svc_payment", "traces": "/webhooks/payments/stripe", "Redis": "asynq:{",
		"admin collection refund": "succeeded",
	} {
		require.Contains(t, outputs[output], holds, output)
	}
	var told strings.Builder // to the service, by the provider
	for _, e := range fake.Events() {
		told.Write(e.Body)
	}
	require.Subset(t, r.secrets.foundIn(told.String()), []string{"client secret", "tenant"},
		"the provider tells secrets in its notices")
	for _, kind := range []string{"card", "checkout token", "return token", "page of the provider", "API key", "keyset"} {
		require.NotEmpty(t, r.secrets[kind], kind)
	}
	for output, text := range outputs {
		require.Empty(t, r.secrets.foundIn(text), output)
	}
}
