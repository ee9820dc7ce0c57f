package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stripetest"
)

// TestStripe_PaidAndTheBrowserClosed_ANoticeSecuresTheDeposit: the provider's own notice reaches the route. The next
// question of the check is an hour away, so that only a notice can lead to the answer.
func TestStripe_PaidAndTheBrowserClosed_ANoticeSecuresTheDeposit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fake := w.withStripe(t)
	w.http(t)
	w.dispatcher(t)
	depositID, checkoutURL := w.deposit(t, w.link(t, "villa-71"))
	hosted := openFee(t, newBrowser(t), checkoutURL)
	moved, err := w.database(t).Exec(t.Context(),
		`UPDATE payments SET check_at = now() + interval '1 hour' WHERE status = 'processing'`)
	require.NoError(t, err)
	require.EqualValues(t, 1, moved.RowsAffected())
	began := time.Now()
	paid := fake.Pay(t, hosted.url.String(), "4242424242424242") // follows no redirection
	require.Equal(t, http.StatusSeeOther, paid.Status)
	require.Contains(t, paid.Location, "/return")
	require.Eventually(t, func() bool {
		var d struct{ Data struct{ Status string } }
		w.api(t).get("/deposits/"+depositID, &d)
		return d.Data.Status == "active"
	}, time.Minute, often)
	t.Logf("secured %v after the payment", time.Since(began).Round(time.Millisecond))
	require.NotEmpty(t, fake.Events())
}

// TestStripe_OnePaymentIsRefusedAgainAndAgain_OthersGoOn: neither the tenant of a payment that Stripe refuses nor a
// capture of a cent stops the payments of others.
func TestStripe_OnePaymentIsRefusedAgainAndAgain_OthersGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fake := w.withStripe(t)
	server := w.http(t)
	w.dispatcher(t)
	account := w.link(t, "villa-73")
	depositID, checkoutURL := w.deposit(t, account)
	mine := newBrowser(t)
	payWith(mine, openFee(t, mine, checkoutURL), "4242 4242 4242 4242")
	fake.OffSession(depositID, stripetest.Outcome{DeclineCode: "insufficient_funds"})
	for amount, code := range map[float64]string{0.01: "capture_below_minimum", 0.49: "capture_below_minimum",
		100_000: "capture_exceeds_amount"} {
		status, raw, err := w.api(t).do(http.MethodPost, "/deposits/"+depositID+"/capture", map[string]any{"amount": amount})
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, string(raw), code)
	}
	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 0.5}, nil)
	w.awaitCollection(t, depositID, "awaiting_tenant")

	page := mine.open(checkoutURL)
	fake.FailBy(func(method, path string) *stripetest.Fault {
		if method == http.MethodPost && strings.HasSuffix(path, "/sessions") {
			return &stripetest.Fault{Kind: stripetest.Refused}
		}
		return nil
	})
	refused := 0
	for status := 0; status != http.StatusTooManyRequests; refused++ {
		require.Less(t, refused, 20, "a further one each twelve seconds")
		status = mine.submit(page, nil).status
		require.Contains(t, []int{http.StatusServiceUnavailable, http.StatusTooManyRequests}, status)
	}
	require.Greater(t, refused, 5)
	fake.FailBy(nil)
	other, otherURL := w.deposit(t, account)
	openFee(t, newBrowser(t), otherURL)
	w.api(t).post("/deposits/"+other+"/cancel", nil, nil)
	require.Zero(t, server.stop(t)) // the log is complete
	require.Regexp(t, `/cancel","status":200,.*"partner":"`+w.partnerID+`","key":"key_`, server.log.String())
	require.Regexp(t, `"route":"/dashboard".*"operator":"opr_\w+","account":"`+account+`"`, server.log.String())
}

// TestStripe_ChargedBehindOurBack_TheBooksDiffer: the books agree until somebody charges the tenant's card at the
// provider, without the service. A dispute reaches the audit log by a notice.
func TestStripe_ChargedBehindOurBack_TheBooksDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fake := w.withStripe(t)
	w.http(t)
	w.dispatcher(t)
	depositID, checkoutURL := w.deposit(t, w.link(t, "villa-72"))
	b := newBrowser(t)
	require.Equal(t, "partner.example", payWith(b, openFee(t, b, checkoutURL), "4242 4242 4242 4242").url.Host)
	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
	collection := w.awaitCollection(t, depositID, "paid")
	reconcile := func() (code int, books comparison, stderr string) {
		t.Helper()
		from, to := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339),
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		code, stdout, stderr := run(t, w.environ, "admin", "payments", "reconcile", "--from", from, "--to", to, "--json")
		require.NoError(t, json.Unmarshal([]byte(stdout), &books), stdout)
		return code, books, stderr
	}
	code, books, stderr := reconcile()
	require.Zero(t, code, stderr)
	require.Equal(t, 2, books.Checked, "the fee and the collection")
	require.Empty(t, books.Differences)

	require.True(t, fake.Dispute(collection.PaymentID, "fraudulent"))
	require.Contains(t, w.awaitDispute(t, depositID), "fraudulent")
	require.Equal(t, "paid", w.awaitCollection(t, depositID, "paid").State, "a dispute changes no collection")
	code, books, stderr = reconcile()
	require.Zero(t, code, stderr)
	require.Equal(t, 3, books.Checked, "and the dispute")

	var intents struct {
		Data []struct {
			Customer      string
			PaymentMethod string `json:"payment_method"`
		}
	}
	atStripe(t, fake, http.MethodGet, "/v1/payment_intents?limit=1", nil, &intents)
	require.NotEmpty(t, intents.Data[0].Customer)
	var made struct{ ID, Status string }
	unknown := id.Payment.Of(id.ID(uuid.New())) // the fake wants the id of a payment
	atStripe(t, fake, http.MethodPost, "/v1/payment_intents", url.Values{
		"amount": {"4200"}, "currency": {"eur"}, "customer": {intents.Data[0].Customer},
		"metadata[" + stripetest.PaymentKey + "]": {unknown},
	}, &made)
	atStripe(t, fake, http.MethodPost, "/v1/payment_intents/"+made.ID+"/confirm",
		url.Values{"payment_method": {intents.Data[0].PaymentMethod}, "off_session": {"true"}}, &made)
	require.Equal(t, "succeeded", made.Status)
	code, books, stderr = reconcile()
	require.Equal(t, 1, code)
	require.True(t, strings.HasPrefix(refusal(t, stderr), "books_differ: "), stderr)
	require.Len(t, books.Differences, 1)
	require.Equal(t, []string{unknown, made.ID, "", "payment succeeded 42.00"},
		[]string{books.Differences[0].PaymentID, books.Differences[0].ProviderRef, books.Differences[0].Ours,
			books.Differences[0].Theirs})
}
