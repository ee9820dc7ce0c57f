package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestClock_WhatTheDispatcherDoesByItself: an idle checkout becomes incomplete, a payment is found although its tenant
// never came back, cover ends, the page of a stay that is over is closed, and a mail is sent.
func TestClock_WhatTheDispatcherDoesByItself(t *testing.T) {
	t.Parallel()
	server, mails := mailServer(t)
	w := newWorld(t, "CHECKOUT_IDLE_AFTER=1s", "COVERAGE_MAX=3s", mails, "MAIL_FROM=Deposits <no-reply@example.com>")
	w.http(t)
	d := w.dispatcher(t)
	r := newReceiver(t)
	w.subscribe(t, r)
	accountID := w.link(t, "villa-16")
	r.await(t, 1)

	// A tenant begins the checkout and does not pay.
	idle, checkoutURL := w.deposit(t, accountID)
	b := newBrowser(t)
	b.submit(b.open(checkoutURL),
		url.Values{"firstName": {"Tina"}, "lastName": {"Tenant"}, "email": {"tina@example.com"}, "agree": {"yes"}})
	incomplete := r.await(t, 2)[1]
	require.Equal(t, "deposit.status_changed", incomplete.EventName())
	require.Equal(t, "incomplete", payloadOf(t, incomplete).Data.Status)
	require.Equal(t, idle, payloadOf(t, incomplete).Data.ID)

	// Another tenant pays; cover lasts three seconds in this installation.
	secured, checkoutURL := w.deposit(t, accountID)
	w.secure(t, checkoutURL)
	got := r.await(t, 4)
	require.Equal(t, []string{"deposit.activated", "deposit.expired"}, []string{got[2].EventName(), got[3].EventName()})
	require.Equal(t, secured, payloadOf(t, got[3]).Data.ID)
	require.Equal(t, "close", payloadOf(t, got[3]).Data.Status)
	require.InDelta(t, 1, d.metric(`svc_deposits_transitions_total{by="scheduler",from="active",to="close"}`), 0)

	// The cover has ended, so the capture is refused.
	status, body, err := w.api(t).do(http.MethodPost, "/deposits/"+secured+"/capture", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, string(body), "deposit_not_capturable")

	// The stay of a third tenant ends while the provider's page is open.
	end := time.Now().UTC().Add(5 * time.Second)
	late, checkoutURL := w.stay(t, accountID, "2020-06-01T14:00:00Z", end.Format(time.RFC3339Nano))
	b = newBrowser(t)
	hosted := b.submit(b.open(checkoutURL),
		url.Values{"firstName": {"Tom"}, "lastName": {"Tenant"}, "email": {"tom@example.com"}, "agree": {"yes"}})
	require.Contains(t, hosted.body, "cardNumber")
	require.Eventually(t, func() bool { return !strings.Contains(b.open(hosted.url.String()).body, "cardNumber") }, soon,
		often, "the page is closed")
	require.False(t, time.Now().Before(end), "and not before")
	card := url.Values{"cardNumber": {"4242 4242 4242 4242"}, "cardExpiry": {"12/40"}, "cardCvc": {"123"}}
	paid := b.submit(hosted, card)
	require.Contains(t, paid.body, "Your stay is over")
	var shown struct{ Data struct{ Status string } }
	w.api(t).get("/deposits/"+late, &shown)
	require.Contains(t, []string{"pending", "incomplete"}, shown.Data.Status)

	w.admin(t, &struct{}{}, "link", "revoke", "--partner", w.slug, "--account", accountID)
	require.Eventually(t, func() bool {
		for _, m := range server.Messages() {
			if strings.Contains(strings.Join(flat(m.RcpttoRequestResponse()), " "), "villa-16@example.com") {
				return true
			}
		}
		return false
	}, soon, often, "the operator is told by mail")
}

func flat(pairs [][]string) []string {
	var out []string
	for _, p := range pairs {
		out = append(out, p...)
	}
	return out
}
