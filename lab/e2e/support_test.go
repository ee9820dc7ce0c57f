package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rental is a deposit of the story, secured, captured and told to a receiver.
type rental struct{ accountID, depositID, checkoutURL, webhookID string }

type shownDelivery struct {
	DeliveryID, WebhookID, Event, Status, LastResult string
	EventID, DepositID                               string
	AttemptCount                                     int
	Attempts                                         []struct{ ResponseStatus int }
}

type shownDeposit struct {
	DepositID, Reference, Status, Partner string
	ExternalID, Email, Tenant, ClientID   string
	AmountCents, CapturedAmountCents      int64
	History                               []struct{ From, To, Actor, EventID string }
	Payments                              []struct{ Kind, Status string }
	Agreements                            []struct{ AgreedAt, Words, Address, UserAgent string }
	Deliveries                            []shownDelivery
}

// supportFinds reads the records of a rental by whichever identifier a caller tells. No answer holds a secret.
func (w *deployment) supportFinds(t *testing.T, r rental) {
	t.Helper()
	var all strings.Builder // every answer
	show := func(into any, args ...string) {
		t.Helper()
		code, stdout, stderr := run(t, w.environ, "admin", append(args, "--json")...)
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), into))
		all.WriteString(stdout)
	}
	var d, byReference shownDeposit
	require.Eventually(t, func() bool { // the dispatcher collects the captured amount
		d = shownDeposit{}
		show(&d, "deposit", "show", r.depositID)
		return len(d.Payments) == 2 && d.Payments[1].Status == "succeeded"
	}, soon, often)
	require.Equal(t,
		[]any{r.depositID, "captured", "acme", "villa-7", "tina@example.com", "Tina Tenant", int64(70000), int64(12050)},
		[]any{d.DepositID, d.Status, d.Partner, d.ExternalID, d.Email, d.Tenant, d.AmountCents, d.CapturedAmountCents})
	require.Len(t, d.History, 2)
	require.Equal(t, []string{"pending", "active", "active", "captured", "partner:" + w.partnerID}, []string{
		d.History[0].From, d.History[0].To, d.History[1].From, d.History[1].To, d.History[1].Actor})
	require.Equal(t, "fee", d.Payments[0].Kind)
	require.Len(t, d.Agreements, 1)
	require.Contains(t, d.Agreements[0].Words, "I pay a fee of")
	require.Equal(t, "127.0.0.1", d.Agreements[0].Address)
	require.NotEmpty(t, d.Agreements[0].AgreedAt+d.Agreements[0].UserAgent)
	require.Len(t, d.Deliveries, 2)
	require.Equal(t, []string{"deposit.captured", "succeeded", "success"},
		[]string{d.Deliveries[0].Event, d.Deliveries[0].Status, d.Deliveries[0].LastResult})
	show(&byReference, "deposit", "show", strings.ToLower(strings.ReplaceAll(d.Reference, "-", "")))
	require.Equal(t, d, byReference)

	var event struct {
		EventID, Event, DepositID, Place string
		Deliveries                       []shownDelivery
	}
	show(&event, "event", "show", d.History[1].EventID)
	require.Equal(t, []string{d.History[1].EventID, "deposit.captured", r.depositID, "filed"},
		[]string{event.EventID, event.Event, event.DepositID, event.Place})
	require.Equal(t, d.Deliveries[:1], event.Deliveries)
	var delivery shownDelivery
	show(&delivery, "delivery", "show", d.Deliveries[0].DeliveryID)
	require.Equal(t, []any{event.EventID, r.depositID, r.webhookID, 1, http.StatusOK}, []any{delivery.EventID,
		delivery.DepositID, delivery.WebhookID, delivery.AttemptCount, delivery.Attempts[0].ResponseStatus})
	var webhook struct {
		WebhookID, Partner string
		Enabled            bool
		Deliveries         []shownDelivery
	}
	show(&webhook, "webhook", "show", r.webhookID)
	require.Equal(t, []any{r.webhookID, "acme", true, 3},
		[]any{webhook.WebhookID, webhook.Partner, webhook.Enabled, len(webhook.Deliveries)})
	type found struct {
		Clients []struct {
			ClientID, AccountID, LastName string
			Deposits                      []shownDeposit
		}
	}
	var byEmail, byID found
	show(&byEmail, "client", "show", "Tina@Example.com")
	show(&byID, "client", "show", d.ClientID)
	require.Equal(t, byID, byEmail)
	require.Len(t, byID.Clients, 1)
	require.Equal(t, []any{d.ClientID, r.accountID, "Tenant", r.depositID}, []any{byID.Clients[0].ClientID,
		byID.Clients[0].AccountID, byID.Clients[0].LastName, byID.Clients[0].Deposits[0].DepositID})
	w.requireAudited(t)
	require.NotContains(t, all.String(), r.checkoutURL[strings.LastIndex(r.checkoutURL, "/")+1:], "the checkout token")
	require.NotContains(t, all.String(), "svc_")
}

// requireAudited finds the entry of a request by every name of its action.
func (w *deployment) requireAudited(t *testing.T) {
	t.Helper()
	type entries struct {
		Entries []struct{ Actor, Action, Subject, RequestID string }
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.api(t).base+"/webhooks",
		strings.NewReader(`{"url":"http://127.0.0.1:9/x"}`))
	require.NoError(t, err)
	request.Header = w.api(t).header
	response, err := plain.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusCreated, response.StatusCode)
	requestID := response.Header.Get("X-Request-Id")

	var byRequest, bySubject, byActor, byEmail entries
	w.admin(t, &byRequest, "audit", "show", requestID)
	require.Len(t, byRequest.Entries, 1)
	entry := byRequest.Entries[0]
	require.Equal(t, []string{"partner:" + w.partnerID, "webhook.create", requestID},
		[]string{entry.Actor, entry.Action, entry.RequestID})
	w.admin(t, &bySubject, "audit", "show", entry.Subject)
	require.Equal(t, byRequest, bySubject)
	w.admin(t, &byActor, "audit", "show", w.partnerID)
	require.Equal(t, entry, byActor.Entries[0], "the newest first")
	w.admin(t, &byEmail, "audit", "show", "villa-7@example.com")
	require.NotEmpty(t, byEmail.Entries)
	require.Regexp(t, "^operator:opr_", byEmail.Entries[0].Actor)
}
