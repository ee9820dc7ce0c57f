package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// refusal gives the error that an admin command prints under --json, as "code: message".
func refusal(t testing.TB, stderr string) string {
	t.Helper()
	var printed struct {
		Error struct{ Code, Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(stderr), &printed), stderr)
	require.NotEmpty(t, printed.Error.Code)
	require.NotEmpty(t, printed.Error.Message)
	return printed.Error.Code + ": " + printed.Error.Message
}

type shownDelivery struct {
	DeliveryID, WebhookID, Event, Status, LastResult string
	EventID, DepositID, URL, BodySHA256, Partner     string
	AttemptCount                                     int
	Attempts                                         []struct {
		Number, ResponseStatus int
		Result                 string
	}
}

type shownDeposit struct {
	DepositID, Reference, Status, Partner, ExternalID, Email, Tenant, ClientID string
	AmountCents, CapturedAmountCents                                           int64
	History                                                                    []struct{ From, To, Actor, EventID string }
	Payments                                                                   []struct{ Kind, Status string }
	Agreements                                                                 []struct {
		AgreedAt, Words, Address, UserAgent, Version string
	}
	Deliveries []shownDelivery
}

// Support finds a rental's records by whichever identifier the caller tells, and no answer holds a secret.
func TestAdmin_ShowsTheRecordsOfARental(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	w.dispatcher(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)
	accountID := w.link(t, "villa-41")
	depositID, checkoutURL := w.deposit(t, accountID)
	w.secure(t, checkoutURL)
	w.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
	r.await(t, 3)
	require.Eventually(t, func() bool {
		for _, d := range w.deliveries(t, webhookID) {
			if d.Status != "succeeded" {
				return false
			}
		}
		return true
	}, soon, often)
	var all []string // every answer
	show := func(into any, args ...string) {
		t.Helper()
		code, stdout, stderr := run(t, w.environ, "admin", append(args, "--json")...)
		require.Zero(t, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), into))
		code, text, stderr := run(t, w.environ, "admin", args...)
		require.Zero(t, code, stderr)
		all = append(all, stdout, text)
	}

	var d, byReference shownDeposit
	require.Eventually(t, func() bool { // the dispatcher collects the captured amount
		d = shownDeposit{}
		show(&d, "deposit", "show", depositID)
		return len(d.Payments) == 2 && d.Payments[1].Status == "succeeded"
	}, soon, often)
	require.Equal(t,
		[]any{depositID, "captured", "acme", "villa-41", "tina@example.com", "Tina Tenant", int64(70000), int64(12050)},
		[]any{d.DepositID, d.Status, d.Partner, d.ExternalID, d.Email, d.Tenant, d.AmountCents, d.CapturedAmountCents})
	require.Len(t, d.History, 2)
	require.Equal(t, []string{"pending", "active", "active", "captured"},
		[]string{d.History[0].From, d.History[0].To, d.History[1].From, d.History[1].To})
	require.Equal(t, "partner:"+w.partnerID, d.History[1].Actor)
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
	require.Equal(t, []string{d.History[1].EventID, "deposit.captured", depositID, "filed"},
		[]string{event.EventID, event.Event, event.DepositID, event.Place})
	require.Equal(t, d.Deliveries[:1], event.Deliveries)
	var delivery shownDelivery
	show(&delivery, "delivery", "show", d.Deliveries[0].DeliveryID)
	require.Equal(t, []any{event.EventID, depositID, webhookID, 1, http.StatusOK}, []any{delivery.EventID,
		delivery.DepositID, delivery.WebhookID, delivery.AttemptCount, delivery.Attempts[0].ResponseStatus})
	var webhook struct {
		WebhookID, Partner string
		Enabled            bool
		Deliveries         []shownDelivery
	}
	show(&webhook, "webhook", "show", webhookID)
	require.Equal(t, []any{webhookID, "acme", true, 3},
		[]any{webhook.WebhookID, webhook.Partner, webhook.Enabled, len(webhook.Deliveries)})

	type found struct {
		Clients []struct {
			ClientID, AccountID, Email, LastName string
			Deposits                             []shownDeposit
		}
	}
	var byEmail, byID found
	show(&byEmail, "client", "show", "Tina@Example.com")
	show(&byID, "client", "show", d.ClientID)
	require.Equal(t, byID, byEmail)
	require.Len(t, byID.Clients, 1)
	require.Equal(t, []any{d.ClientID, accountID, "Tenant", depositID}, []any{byID.Clients[0].ClientID,
		byID.Clients[0].AccountID, byID.Clients[0].LastName, byID.Clients[0].Deposits[0].DepositID})

	var account, same struct{ AccountID, OperatorID, Email, ExternalID string }
	show(&account, "account", "show", accountID)
	require.Equal(t, "villa-41", account.ExternalID)
	for _, args := range [][]string{{"VILLA-41@example.com"}, {account.OperatorID}, {"villa-41", "--partner", "acme"},
		{"--account", accountID}} {
		show(&same, append([]string{"account", "show"}, args...)...)
		require.Equal(t, account, same, args)
	}

	w.auditOfARequest(t, account.OperatorID, accountID)
	for _, text := range all {
		require.NotContains(t, text, strings.TrimPrefix(checkoutURL[strings.LastIndex(checkoutURL, "/"):], "/"),
			"the checkout token")
		require.NotContains(t, text, "svc_")
	}
}

// auditOfARequest ends the link by the API, and finds the entry by every name of its action.
func (w *deployment) auditOfARequest(t *testing.T, operatorID, accountID string) {
	t.Helper()
	type entries struct {
		Entries []struct{ Actor, Action, Subject, RequestID string }
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.api(t).base+"/webhooks",
		strings.NewReader(`{"url":"http://127.0.0.1:9/x"}`))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", w.apiKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	requestID := resp.Header.Get("X-Request-Id")

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
	w.admin(t, &byEmail, "audit", "show", "villa-41@example.com")
	require.NotEmpty(t, byEmail.Entries)
	require.Equal(t, []string{"operator:" + operatorID, accountID},
		[]string{byEmail.Entries[0].Actor, byEmail.Entries[0].Subject})
	var none entries
	w.admin(t, &none, "audit", "show", "req_"+strings.Repeat("0", 25)+"1")
	require.NotNil(t, none.Entries)
	require.Empty(t, none.Entries)
}

func TestAdmin_ShowsNothingUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := "_" + strings.Repeat("0", 25) + "1"
	for want, names := range map[string][]string{
		"deposit deposit_not_found: ":   {"dep" + none, "D-7K3M-9Q2X", "nonsense", "'; DROP TABLE deposits", "acct" + none},
		"client client_not_found: ":     {"cli" + none, "nobody@example.com", "nonsense"},
		"account account_not_found: ":   {"acct" + none, "opr" + none, "nobody@example.com", "nonsense"},
		"webhook webhook_not_found: ":   {"pwh" + none, "nonsense"},
		"delivery delivery_not_found: ": {"dlv" + none, "nonsense"},
		"event event_not_found: ":       {"evt" + none, "nonsense"},
	} {
		command, code, _ := strings.Cut(want, " ")
		for _, name := range names {
			exit, stdout, stderr := run(t, w.environ, "admin", command, "show", name, "--json")
			require.Equal(t, 1, exit, stderr)
			require.Empty(t, stdout)
			require.True(t, strings.HasPrefix(refusal(t, stderr), code), "%s %s: %s", command, name, stderr)
		}
	}
	for _, args := range [][]string{{"account", "show"}, {"account", "show", "acct" + none, "--account", "acct" + none},
		{"partner", "update", "--partner", "acme"}} {
		exit, stdout, stderr := run(t, w.environ, "admin", append(args, "--json")...)
		require.Equal(t, 2, exit, stderr)
		require.Empty(t, stdout)
		require.True(t, strings.HasPrefix(refusal(t, stderr), "wrong_usage: "), stderr)
	}
}

func TestAdmin_UpdatesAPartner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var updated struct {
		Name, ContactEmail string
		ReturnOrigins      []string
		Changed            bool
	}
	w.admin(t, &updated, "partner", "update", "--partner", "acme", "--name", "Acme PMS", "--contact-email",
		"dev@acme.example",
		"--return-origin", "https://a.example/x", "--return-origin", "https://b.example")
	require.Equal(t, []any{"Acme PMS", "dev@acme.example", []string{"https://a.example", "https://b.example"}, true},
		[]any{updated.Name, updated.ContactEmail, updated.ReturnOrigins, updated.Changed})
	w.admin(t, &updated, "partner", "update", "--partner", "acme", "--contact-email", "", "--return-origin", "")
	require.Equal(t, []any{"Acme PMS", "", []string{}}, []any{updated.Name, updated.ContactEmail, updated.ReturnOrigins})
	w.admin(t, &updated, "partner", "update", "--partner", "acme", "--name", "Acme PMS")
	require.False(t, updated.Changed)
}

func TestAdmin_SaysItsVersion(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, nil, "admin", "--version")
	require.Zero(t, code, stderr)
	require.Regexp(t, `^admin \S+ \(revision \S+, go1\.\S+, built \S+\)\n$`, stdout)
	code, stdout, stderr = run(t, nil, "admin", "--version", "--json")
	require.Zero(t, code, stderr)
	var v struct{ Version, Revision, GoVersion, Date string }
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.Equal(t, []string{stampedVersion, stampedRevision, stampedDate}, []string{v.Version, v.Revision, v.Date})
	require.Regexp(t, `^go1\.`, v.GoVersion)
}
