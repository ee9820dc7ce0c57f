package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/receiver"
)

// TestStory_FromSignedLinkToWebhook is the main use of the service, end to end.
func TestStory_FromSignedLinkToWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)

	accountID := w.link(t, "villa-7")
	linked := r.await(t, 1)[0]
	require.Equal(t, "rental_operator.linked", linked.Event())
	require.Equal(t, "application/json", linked.Header.Get("Content-Type"))
	p := payloadOf(t, linked)
	require.Equal(t, "rental_operator.linked", p.Event)
	require.Equal(t, w.partnerID, p.Data.PartnerID)
	require.Equal(t, accountID, p.Data.AccountID)
	require.Equal(t, "villa-7", p.Data.ExternalID)

	depositID, checkoutURL := w.deposit(t, accountID)
	w.secure(t, checkoutURL)
	activated := r.await(t, 2)[1]
	require.Equal(t, "deposit.activated", activated.Event())
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
	require.Equal(t, "deposit.captured", r.await(t, 3)[2].Event())

	log := w.deliveries(t, webhookID)
	require.Len(t, log, 3)
	for _, d := range log {
		require.Equal(t, "succeeded", d.Status)
		require.Len(t, d.Attempts, 1)
	}
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

// TestDispatch_EachTransitionOnceUnderItsMostSpecificName: every subscription gets exactly one delivery per transition.
func TestDispatch_EachTransitionOnceUnderItsMostSpecificName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	cases := []struct {
		subscribed []string
		want       []string // for the transitions linked, active, captured
	}{
		{nil, []string{"rental_operator.linked", "deposit.activated", "deposit.captured"}},
		{[]string{"deposit.status_changed"}, []string{"deposit.status_changed", "deposit.status_changed"}},
		{[]string{"deposit.status_changed", "deposit.activated"}, []string{"deposit.activated", "deposit.status_changed"}},
		{[]string{"deposit.captured"}, []string{"deposit.captured"}},
		{[]string{"deposit.cancelled", "deposit.expired"}, nil},
	}
	receivers, hooks := make([]*hook, len(cases)), make([]string, len(cases))
	for i, c := range cases {
		receivers[i] = newReceiver(t)
		hooks[i] = w.subscribe(t, receivers[i], c.subscribed...)
	}
	accountID := w.link(t, "villa-8")
	depositID, _ := w.deposit(t, accountID)
	w.api(t).post("/test/deposits/"+depositID+"/simulate", map[string]string{"outcome": "activate"}, nil)
	w.api(t).post("/deposits/"+depositID+"/capture", nil, nil)

	for i, c := range cases {
		got := receivers[i].await(t, len(c.want))
		log := w.deliveries(t, hooks[i])
		require.Len(t, log, len(c.want), "%v", c.subscribed)
		var names []string
		for _, webhook := range got {
			names = append(names, webhook.Event())
			require.Equal(t, webhook.Event(), payloadOf(t, webhook).Event, "header and body agree")
		}
		require.ElementsMatch(t, c.want, names, "%v", c.subscribed)
		require.Len(t, receivers[i].All(), len(c.want), "nothing came twice")
	}
}

// TestRetry_SameBodyNewSignature: a retry sends the same bytes with another timestamp and signature.
func TestRetry_SameBodyNewSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "WEBHOOK_RETRY_SCHEDULE=0s,1100ms,1100ms,1100ms,1100ms")
	w.http(t)
	d := w.dispatcher(t)
	r := newReceiver(t)
	failures := []int{http.StatusInternalServerError, http.StatusFound, http.StatusGone}
	r.AnswerWith(func(n int, _ receiver.Webhook) int {
		if n < len(failures) {
			return failures[n]
		}
		return http.StatusOK
	})
	webhookID := w.subscribe(t, r)
	w.link(t, "villa-9")
	r.await(t, 1)

	all := r.All()
	require.Len(t, all, 4)
	signatures, timestamps := map[string]bool{}, map[string]bool{}
	for _, attempt := range all {
		require.Empty(t, attempt.Wrong, "every attempt is signed")
		require.Equal(t, string(all[0].Body), string(attempt.Body), "byte-identical")
		require.Equal(t, "rental_operator.linked", attempt.Event())
		signatures[attempt.Header.Get("X-Svc-Signature")], timestamps[attempt.Header.Get("X-Svc-Timestamp")] = true, true
	}
	require.Len(t, timestamps, 4, "each attempt has its own time")
	require.Len(t, signatures, 4)

	log := w.deliveries(t, webhookID)
	require.Len(t, log, 1)
	require.Equal(t, "succeeded", log[0].Status)
	require.Len(t, log[0].Attempts, 4)
	require.Equal(t, []string{"non_2xx", "redirect", "non_2xx", ""},
		[]string{log[0].Attempts[0].Error, log[0].Attempts[1].Error, log[0].Attempts[2].Error, log[0].Attempts[3].Error})
	require.InDelta(t, 1,
		d.metric(`svc_webhook_deliveries_finished_total{event="rental_operator.linked",outcome="succeeded"}`), 0)
	require.InDelta(t, 2, d.metric(`svc_webhook_attempts_total{event="rental_operator.linked",result="non_2xx"}`), 0)
	require.InDelta(t, 1, d.metric(`svc_webhook_attempts_total{event="rental_operator.linked",result="redirect"}`), 0)
}

// TestSecret_ChangedByASecondSubscription_HasNoGap follows the recipe of docs/guides/webhooks.md while events go on:
// each event is accepted under a secret that the receiver knows at that moment, and none is lost.
func TestSecret_ChangedByASecondSubscription_HasNoGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "WEBHOOK_RETRY_SCHEDULE=0s,1s,1s,1s,1s,1s,1s,1s,1s,1s")
	w.http(t)
	w.dispatcher(t)
	r := newReceiver(t)
	bodies := func() map[string]bool {
		distinct := map[string]bool{}
		for _, a := range r.Accepted() {
			distinct[string(a.Body)] = true
		}
		return distinct
	}
	events := 0
	happens := func() {
		t.Helper()
		events++
		w.link(t, fmt.Sprintf("villa-7%d", events))
		require.Eventually(t, func() bool { return len(bodies()) == events }, soon, often)
	}
	first := w.subscribe(t, r)
	old := r.Secret()
	happens()
	second := w.subscribe(t, r)
	fresh := r.Secret()
	r.SetSecret(old) // the receiver does not know the new one yet
	happens()
	r.SetSecret(old, fresh)
	happens()
	pending := func(webhookID string) int {
		var found struct {
			Data struct{ Health struct{ Pending int } }
		}
		w.api(t).get("/webhooks/"+webhookID, &found)
		return found.Data.Health.Pending
	}
	require.Eventually(t, func() bool { return pending(first) == 0 && pending(second) == 0 }, soon, often)
	require.Len(t, bodies(), events, "copies of an event have the same bytes")
	w.api(t).must(http.MethodDelete, "/webhooks/"+first, nil, nil)
	happens()
	r.SetSecret(fresh)
	happens()
	for _, a := range r.All()[len(r.All())-2:] {
		require.Empty(t, a.Wrong)
	}
}

// TestRotateSecret_SignsRetriesWithTheNewOne: after a rotation the old secret signs nothing, not even retries.
func TestRotateSecret_SignsRetriesWithTheNewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "WEBHOOK_RETRY_SCHEDULE=0s,1s,1s,1s,1s,1s")
	w.http(t)
	w.dispatcher(t)
	r := newReceiver(t)
	rotated := make(chan struct{})
	r.AnswerWith(func(int, receiver.Webhook) int {
		select {
		case <-rotated:
			return http.StatusOK
		default:
			return http.StatusServiceUnavailable
		}
	})
	webhookID := w.subscribe(t, r)
	w.link(t, "villa-10")
	require.Eventually(t, func() bool { return len(r.All()) > 0 }, soon, often)
	var fresh struct{ Data struct{ Secret string } }
	w.api(t).post("/webhooks/"+webhookID+"/rotate-secret", nil, &fresh)
	r.SetSecret(fresh.Data.Secret)
	before := len(r.All())
	close(rotated)
	r.await(t, 1)
	for _, later := range r.All()[before:] {
		require.Empty(t, later.Wrong, "signed with the new secret")
	}
}
