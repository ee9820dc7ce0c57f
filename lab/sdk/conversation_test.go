package sdk_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"partnerdeposits/lab/docstest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

type object = map[string]any

type deposit struct {
	ID, Status, ExternalID, Amount string
	AmountCents                    int64
}

// TestConversation_OfEachLibrary is the whole of what a partner does, said once for all languages.
func TestConversation_OfEachLibrary(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		c := newConversation(t, l)
		c.connect()
		c.askWhyRefused()
		c.subscribe()
		c.createDeposits()
		c.readPages()
		c.meetErrors()
		c.hearOfChanges()
		c.mailLinks()
		c.keepDeliveries()
		c.followFeed()
		c.changeSecret()
		c.tidyUp()
		c.requireEveryMethod()
	})
}

// conversation is a partner's work in one language.
type conversation struct {
	t    *testing.T
	l    language
	f    facts
	d    *driver
	hook *hook

	externalID, accountID, webhookID, secret, clientID string
	link, returned                                     string // the URL of connect, and that to which it led back
	deposits                                           []string
}

func newConversation(t *testing.T, l language) *conversation {
	t.Helper()
	f := newPartner(t)
	return &conversation{t: t, l: l, f: f, d: l.serve(t, f.APIBaseURL, f.APIKey), hook: newHook(t),
		externalID: "villa " + l.name + " & " + uuid.NewString()}
}

// connect signs the operator's URL, lets the operator sign up, and verifies what comes back.
func (c *conversation) connect() {
	t := c.t
	link := c.d.text("connectUrl", object{"base": c.f.DashboardBaseURL, "slug": c.f.PartnerSlug,
		"secret": c.f.ConnectSecret, "externalId": c.externalID, "name": "Villa & Söhne", "returnUrl": c.hook.back})
	back := signUp(t, link, c.hook.back, c.l.name+"-"+uuid.NewString()+"@example.com")
	require.True(t, strings.HasPrefix(back, c.hook.back), back)
	c.link, c.returned = link, back

	returned := c.d.do("verifyReturn", object{"url": back, "secret": c.f.ConnectSecret})
	require.Nil(t, returned.Error)
	require.Contains(t, string(returned.Value), `linked`)
	tampered := c.d.do("verifyReturn",
		object{"url": strings.Replace(back, "acct_", "acct_0", 1), "secret": c.f.ConnectSecret})
	require.Equal(t, "mismatch", tampered.Error.Reason)

	var accounts []struct{ AccountID, ExternalID, Status string }
	c.d.must(&accounts, "accounts.list", object{"externalId": c.externalID})
	require.Len(t, accounts, 1)
	c.accountID = accounts[0].AccountID
	require.Contains(t, string(returned.Value), c.accountID)
	c.d.must(&accounts[0], "accounts.get", c.accountID)
	require.Equal(t, c.externalID, accounts[0].ExternalID)
	var me struct{ Slug string }
	c.d.must(&me, "me.get")
	require.Equal(t, c.f.PartnerSlug, me.Slug)
}

// askWhyRefused asks about a connect URL that was changed.
func (c *conversation) askWhyRefused() {
	var why struct {
		Valid bool
		Cause string
	}
	c.d.must(&why, "connect.explain", object{"url": strings.Replace(c.link, "sig=", "sig=0", 1)})
	require.False(c.t, why.Valid)
	require.Equal(c.t, "malformed_parameter", why.Cause)
}

// subscribe makes sure, twice, that there is a subscription; the second time changes its events.
func (c *conversation) subscribe() {
	var made, again struct {
		ID, Secret string
		Events     []string
	}
	c.d.must(&made, "webhooks.ensure", c.hook.url)
	require.True(c.t, strings.HasPrefix(made.Secret, "svc_whsec_"))
	require.Len(c.t, made.Events, 6)
	c.d.must(&again, "webhooks.ensure", c.hook.url)
	require.Equal(c.t, made.ID, again.ID)
	require.Empty(c.t, again.Secret, "a secret is shown once")
	c.d.must(&again, "webhooks.ensure", c.hook.url, []string{"deposit.activated"})
	require.Equal(c.t, made.ID, again.ID)
	require.Equal(c.t, []string{"deposit.activated"}, again.Events)
	again.Events = nil
	c.d.must(&again, "webhooks.update", made.ID, object{"events": []string{"deposit.activated", "deposit.captured"}})
	require.Equal(c.t, []string{"deposit.activated", "deposit.captured"}, again.Events)
	c.webhookID, c.secret = made.ID, made.Secret
	var second struct{ ID string }
	c.d.must(&second, "webhooks.create", object{"url": c.hook.url + "/second", "events": []string{"deposit.expired"}})
	c.d.must(&again, "webhooks.get", second.ID)
	require.Equal(c.t, second.ID, again.ID)
	c.d.must(nil, "webhooks.delete", second.ID)
}

func (c *conversation) request(amount any) object {
	return object{"accountId": c.accountID, "amount": amount, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z", "rentalContract": "B-" + c.l.name, "clientId": c.clientID,
		"metadata": object{"language": c.l.name}}
}

// createDeposits creates a client and five deposits; a repetition with the same key makes none.
func (c *conversation) createDeposits() {
	var client struct{ ID, FirstName, Phone string }
	c.d.must(&client, "clients.create",
		object{"accountId": c.accountID, "email": "tina@example.com", "firstName": "Tina é ✔", "lastName": "Tenant"})
	c.clientID = client.ID
	c.d.must(&client, "clients.update", c.clientID, object{"phone": "+33612345678"})
	require.Equal(c.t, "+33612345678", client.Phone)
	c.d.must(&client, "clients.get", c.clientID)
	require.Equal(c.t, "Tina é ✔", client.FirstName)

	key := uuid.NewString()
	for _, amount := range []any{"500.50", "500.50", "70", "100.5", 2500, "123.45"} {
		options := object{}
		if amount == "500.50" {
			options["idempotencyKey"] = key
		}
		var made deposit
		c.d.mustCall(&made, call{Call: "deposits.create", Args: []any{c.request(amount)}, Options: options})
		if !slices.Contains(c.deposits, made.ID) {
			c.deposits = append(c.deposits, made.ID)
		}
	}
	require.Len(c.t, c.deposits, 5)
	var first deposit
	c.d.must(&first, "deposits.get", c.deposits[0])
	require.Equal(c.t, deposit{ID: c.deposits[0], Status: "pending", ExternalID: c.externalID, Amount: "500.50",
		AmountCents: 50050}, first)
}

// readPages lists the five deposits in pages of two, and then stops a list after three.
func (c *conversation) readPages() {
	var all, some []deposit
	filter := object{"accountId": c.accountID, "limit": 2}
	c.d.must(&all, "deposits.list", filter)
	require.Len(c.t, all, 5)
	require.Equal(c.t, int64(12345), all[0].AmountCents, "the newest first")
	c.d.mustCall(&some, call{Call: "deposits.list", Args: []any{filter}, Take: 3})
	require.Equal(c.t, all[:3], some)
	var clients []object
	c.d.must(&clients, "clients.list", object{"accountId": c.accountID})
	require.Len(c.t, clients, 1)
}

func (c *conversation) meetErrors() {
	c.d.fails(404, "deposit_not_found", "deposits.get", "dep_01jb2m4q8e7w9x3c5v6b7n8m9a")
	c.d.fails(400, "amount_below_minimum", "deposits.create", c.request("69.99"))
	c.d.fails(409, "deposit_not_capturable", "deposits.capture", c.deposits[0], object{})
	refused := c.d.do("call", call{Call: "deposits.create", Args: []any{c.request(500.5)}})
	require.True(c.t, refused.Refused, "a float is no amount: %+v", refused)
	stranger := c.l.serve(c.t, c.f.APIBaseURL, "svc_pk_test_unknown")
	stranger.fails(401, "invalid_api_key", "me.get")
	gone := c.l.serve(c.t, "http://127.0.0.1:1", c.f.APIKey).do("call", call{Call: "me.get", Args: []any{}})
	require.True(c.t, gone.Error.Connection, "%+v", gone.Error)
}

// hearOfChanges secures a deposit, captures a part of it, and unwraps the webhooks about both.
func (c *conversation) hearOfChanges() {
	t, id := c.t, c.deposits[0]
	var d struct {
		Status              string
		CapturedAmountCents int64
	}
	c.d.must(&d, "test.simulate", id, object{"outcome": "activate"})
	require.Equal(t, "active", d.Status)
	if slices.Contains([]string{"php", "node"}, c.l.name) { // elsewhere there is no such parameter to pass
		c.d.fails(400, "unknown_field", "deposits.capture", id, object{"amountCents": 1000})
	}
	c.d.must(&d, "deposits.capture", id, object{"amount": "120.50", "currency": "EUR", "reason": "damage"})
	require.Equal(t, int64(12050), d.CapturedAmountCents)
	for _, event := range []string{"deposit.activated", "deposit.captured"} {
		got := c.hook.await(t, event, id)
		unwrapped := c.d.do("unwrap", got.asCase(c.secret))
		require.Nil(t, unwrapped.Error, "%+v", unwrapped.Error)
		require.JSONEq(t, got.body, string(unwrapped.Value))
		newer := c.d.do("isNewer", object{"event": unwrapped.Value, "storedVersion": 2}) // that of the activation
		require.Equal(t, strconv.FormatBool(event == "deposit.captured"), string(newer.Value))
		wrong := c.d.do("unwrap", got.asCase(c.f.ConnectSecret))
		require.Equal(t, "mismatch wrong_secret_kind", wrong.Error.Reason+" "+wrong.Error.Hint)
		c.askWhy(got)
	}
	c.d.must(&d, "test.simulate", c.deposits[1], object{"outcome": "activate"})
	c.d.must(&d, "deposits.release", c.deposits[1], object{})
	require.Equal(t, "close", d.Status)
	c.d.must(&d, "deposits.cancel", c.deposits[2], object{"reason": "duplicate"})
	require.Equal(t, "cancelled", d.Status)
}

// askWhy changes a delivery as a framework does that parses bodies: the library and the service name the same cause.
func (c *conversation) askWhy(got delivery) {
	got.body = strings.Replace(got.body, `","`, `", "`, 1)
	refused := c.d.do("unwrap", got.asCase(c.secret))
	headers := object{}
	for name := range got.headers {
		headers[name] = got.headers.Get(name)
	}
	var why struct {
		Valid             bool
		Cause, DeliveryID string
	}
	c.d.must(&why, "webhooks.explain", c.webhookID,
		object{"headers": headers, "body": base64.StdEncoding.EncodeToString([]byte(got.body))})
	require.False(c.t, why.Valid)
	require.Equal(c.t, "body_reserialized", why.Cause)
	require.Equal(c.t, why.Cause, refused.Error.Hint)
	require.Regexp(c.t, "^dlv_", why.DeliveryID)
}

func (c *conversation) mailLinks() {
	var mail struct{ Status string }
	c.d.must(&mail, "deposits.sendLink", c.deposits[3], object{"email": "tina@example.com", "locale": "fr"})
	require.Equal(c.t, "queued", mail.Status)
	var mails []struct{ Email string }
	c.d.must(&mails, "deposits.sendLinkBatch", c.deposits[3],
		object{"recipients": []object{{"email": "a@example.com"}, {"email": "b@example.com", "locale": "en"}}})
	require.Len(c.t, mails, 2)
}

// keepDeliveries reads the log of deliveries, and sends a delivery and a span of them again.
func (c *conversation) keepDeliveries() {
	var log []struct{ ID, Event, Status string }
	require.Eventually(c.t, func() bool {
		c.d.must(&log, "deliveries.list", c.webhookID, object{"status": "succeeded"})
		return len(log) >= 3
	}, soon, often)
	var one struct{ Body, RedeliveryOf string }
	c.d.must(&one, "deliveries.get", c.webhookID, log[0].ID)
	require.Contains(c.t, one.Body, log[0].Event)
	c.d.must(&one, "deliveries.redeliver", c.webhookID, log[0].ID)
	require.Equal(c.t, log[0].ID, one.RedeliveryOf)
	var replay struct{ Matched int }
	c.d.must(&replay, "webhooks.replay", c.webhookID,
		object{"from": "2026-01-01T00:00:00Z", "to": "2036-01-01T00:00:00Z", "status": "succeeded"})
	require.Positive(c.t, replay.Matched)
	all := len(log) + replay.Matched // and the redelivery
	require.Eventually(c.t, func() bool {
		c.d.must(&log, "deliveries.list", c.webhookID, object{"status": "succeeded"})
		return len(log) > all
	}, soon, often, "the dispatcher sends them again")
}

// followFeed reads the feed to its end: no number is missing, and the events of these deposits are there.
func (c *conversation) followFeed() {
	var events []struct {
		Sequence          int64
		ID, Event, FeedID string
		Data              struct{ ID string }
	}
	mine := func() (names []string) {
		c.d.mustCall(&events, call{Call: "events.follow", Args: []any{}, Options: object{"waitSeconds": 0}})
		for i, e := range events {
			require.Equal(c.t, events[0].Sequence+int64(i), e.Sequence)
			require.Equal(c.t, events[0].FeedID, e.FeedID)
			if e.Data.ID == c.deposits[0] {
				names = append(names, e.Event)
			}
		}
		return names
	}
	require.Eventually(c.t, func() bool {
		return slices.Equal([]string{"deposit.activated", "deposit.captured"}, mine())
	}, soon, often)
	last := events[len(events)-1]
	var rest []object
	c.d.mustCall(&rest, call{Call: "events.follow", Args: []any{events[0].Sequence},
		Options: object{"waitSeconds": 0, "feedId": last.FeedID}, Take: len(events) - 1})
	require.Len(c.t, rest, len(events)-1)
	foreign := c.d.do("call", call{Call: "events.follow", Args: []any{}, Options: object{"feedId": "feed_other"}})
	require.Equal(c.t, "feed_changed", foreign.Error.Code)
	var page struct {
		Data      []object
		NextAfter int64
	}
	c.d.must(&page, "events.feed", object{"after": events[0].Sequence, "limit": 1})
	require.Len(c.t, page.Data, 1)
	require.Equal(c.t, events[0].Sequence+1, page.NextAfter)
	var event struct{ Event string }
	c.d.must(&event, "events.get", last.ID)
	require.Equal(c.t, last.Event, event.Event)
	var listed []object
	c.d.must(&listed, "events.list", object{"depositId": c.deposits[0]})
	require.Len(c.t, listed, 2)
}

// changeSecret rotates the secret, and unwraps a test delivery with the new one.
func (c *conversation) changeSecret() {
	var rotated struct{ Secret string }
	c.d.must(&rotated, "webhooks.rotateSecret", c.webhookID)
	require.NotEqual(c.t, c.secret, rotated.Secret)
	var sent struct{ Status string }
	c.d.must(&sent, "webhooks.test", c.webhookID)
	require.Equal(c.t, "succeeded", sent.Status)
	got := c.hook.await(c.t, "deposit.activated", "dep_test_")
	require.Nil(c.t, c.d.do("unwrap", got.asCase(rotated.Secret)).Error)
	old := c.d.do("unwrap", got.asCase(c.secret))
	require.Equal(c.t, "mismatch", old.Error.Reason)
	require.True(c.t, strings.HasPrefix(c.d.text("standardSecret", object{"secret": rotated.Secret}), "whsec_"))
}

// tidyUp ends what the conversation began.
func (c *conversation) tidyUp() {
	var key struct{ ID, Key string }
	c.d.must(&key, "apiKeys.create", object{"name": "second " + c.l.name})
	second := c.l.serve(c.t, c.f.APIBaseURL, key.Key)
	second.called = c.d.called
	var keys []object
	second.must(&keys, "apiKeys.list", object{})
	require.True(c.t, slices.ContainsFunc(keys, func(k object) bool { return k["id"] == key.ID }))
	second.must(nil, "clients.delete", c.clientID)
	second.must(nil, "webhooks.delete", c.webhookID)
	second.fails(404, "webhook_not_found", "webhooks.get", c.webhookID)
	second.must(nil, "accounts.delete", c.accountID)
	second.fails(403, "account_revoked", "deposits.create", c.request("500"))
	c.d.must(nil, "apiKeys.delete", key.ID)
	var left []object
	c.d.must(&left, "webhooks.list", object{})
	require.False(c.t, slices.ContainsFunc(left, func(w object) bool { return w["id"] == c.webhookID }), fmt.Sprint(left))
}

// requireEveryMethod finds a method of the API that the conversation has not called.
func (c *conversation) requireEveryMethod() {
	names := in(c.t, docstest.RepositoryRoot(), nil, "go", "run", "./sdk/generate", "-names")
	for _, name := range strings.Fields(names) {
		require.True(c.t, c.d.called[name], "the conversation does not call %s", name)
	}
}
