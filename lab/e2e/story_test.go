package e2e_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// TestStory_FromSignedLinkToWebhook is the main use of the service, end to end. Afterwards support looks the rental up.
func TestStory_FromSignedLinkToWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)

	accountID := w.link(t, "villa-7")
	linked := r.await(t, 1)[0]
	require.Equal(t, "rental_operator.linked", linked.EventName())
	require.Equal(t, "application/json", linked.Header.Get("Content-Type"))
	p := payloadOf(t, linked)
	require.Equal(t, "rental_operator.linked", p.Event)
	require.Equal(t, w.partnerID, p.Data.PartnerID)
	require.Equal(t, accountID, p.Data.AccountID)
	require.Equal(t, "villa-7", p.Data.ExternalID)

	depositID, checkoutURL := w.deposit(t, accountID)
	w.secure(t, checkoutURL)
	activated := r.await(t, 2)[1]
	require.Equal(t, "deposit.activated", activated.EventName())
	p = payloadOf(t, activated)
	require.Equal(t, depositID, p.Data.ID)
	require.Equal(t, "active", p.Data.Status)
	require.Equal(t, "pending", p.Data.PreviousStatus)
	require.Equal(t, int64(70000), p.Data.AmountCents)
	require.Equal(t, "B-1", p.Data.RentalContract)
	require.Equal(t, "tina@example.com", p.Data.Client.Email)
	require.Equal(t, "villa-7", p.Data.PartnerContext.ExternalID)

	var deposit struct {
		Data struct{ Status, ExpiresAt string }
	}
	w.api(t).get("/deposits/"+depositID, &deposit)
	require.Equal(t, "active", deposit.Data.Status)
	require.NotEmpty(t, deposit.Data.ExpiresAt)

	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
	require.Equal(t, "deposit.captured", r.await(t, 3)[2].EventName())

	log := w.deliveries(t, webhookID)
	require.Len(t, log, 3)
	for _, d := range log {
		require.Equal(t, "succeeded", d.Status)
		require.Len(t, d.Attempts, 1)
	}
	w.supportFinds(t, rental{accountID, depositID, checkoutURL, webhookID})
}

// TestStory_ARetryOvertaken_LeavesTheLaterStatus plays a receiver that was away for a moment: the activation arrives
// after the capture. A receiver that keeps versions ends with the capture, whatever comes again.
func TestStory_ARetryOvertaken_LeavesTheLaterStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "WEBHOOK_RETRY_SCHEDULE=0s,1s,1s,1s,1s,1s,1s,1s,1s,1s")
	w.http(t)
	w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r, "deposit.activated", "deposit.captured")
	depositID, checkoutURL := w.deposit(t, w.link(t, "villa-9"))
	refused := func() int { return len(r.All()) - len(r.Accepted()) }
	r.AnswerWith(func(_ int, got receiver.Webhook) int {
		if got.EventName() == "deposit.activated" && len(r.Accepted()) == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	w.secure(t, checkoutURL)
	require.Eventually(t, func() bool { return refused() > 0 }, soon, often)
	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
	late := r.await(t, 2)[1]
	require.Equal(t, "deposit.activated", late.EventName(), "the retry was overtaken")
	for _, d := range w.deliveries(t, webhookID) {
		w.api(t).post("/webhooks/"+webhookID+"/deliveries/"+d.ID+"/redeliver", nil, nil)
	}

	stored, status, captured := 0, "pending", int64(0)
	for i, got := range r.await(t, 4) {
		p := payloadOf(t, got)
		require.Equal(t, depositID, p.Data.ID)
		require.Equal(t, p.Data.Status == "captured", p.Data.CapturedAmountCents != nil)
		if p.Data.Version > stored {
			stored, status = p.Data.Version, p.Data.Status
			captured = *p.Data.CapturedAmountCents
		}
		again := slices.IndexFunc(r.Accepted(), func(other received) bool { return other.EventName() == got.EventName() })
		require.Equal(t, string(r.Accepted()[again].Body), string(got.Body), "delivery %d has the same bytes", i)
	}
	require.Equal(t, []any{3, "captured", int64(12_050)}, []any{stored, status, captured})
}

type delivery struct {
	ID, Event, EventID, Status, BodySHA256 string
	AttemptCount                           int
	Attempts                               []struct {
		Number, ResponseStatus int
		Error                  string
	}
}

// deliveries reads the whole log of a webhook after all its deliveries have ended.
func (w *deployment) deliveries(t testing.TB, webhookID string) []delivery {
	t.Helper()
	var log struct{ Data []delivery }
	require.Eventually(t, func() bool {
		w.api(t).get("/webhooks/"+webhookID+"/deliveries", &log)
		for _, d := range log.Data {
			if d.Status == "pending" || d.Status == "retrying" {
				return false
			}
		}
		return true
	}, soon, often)
	return log.Data
}
