package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStripe_PaidAndTheBrowserClosed_ANoticeSecuresTheDeposit: the provider's own notice reaches the route. The next
// question of the check is an hour away, so that only a notice can lead to the answer.
func TestStripe_PaidAndTheBrowserClosed_ANoticeSecuresTheDeposit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fake := w.withStripe(t)
	w.http(t)
	w.dispatcher(t)
	w.refusesUnsigned(t)
	depositID, checkoutURL := w.deposit(t, w.link(t, "villa-71"))
	hosted := openFee(t, newBrowser(t), checkoutURL)
	moved, err := w.database(t).Exec(t.Context(),
		`UPDATE payments SET check_at = now() + interval '1 hour' WHERE status = 'processing'`)
	require.NoError(t, err)
	require.EqualValues(t, 1, moved.RowsAffected())
	began := time.Now()
	paid := fake.PayOnPaymentPage(t, hosted.url.String(), "4242424242424242") // follows no redirection
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

// refusesUnsigned sends a notice that Stripe has not signed.
func (w *deployment) refusesUnsigned(t *testing.T) {
	t.Helper()
	response, err := plain.Post(w.baseURL+"/webhooks/payments/stripe", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	var answer struct {
		Error struct{ Code, RequestID string }
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	require.Equal(t, "notice_refused", answer.Error.Code)
	require.NotEmpty(t, answer.Error.RequestID)
}
