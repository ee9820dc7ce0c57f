// The story calls every operation through a client that oapi-codegen made from the served document with its default
// settings (generated_client_test.go). Each answer must have the documented status and, but for 204, a body that the
// client's types hold.
//
//	story BASE_URL KEY ACCOUNT_ID
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"time"
)

var ctx = context.Background()

func main() {
	account := os.Args[3]
	c := rolled(connect(os.Args[2]))
	expect(c.ListAccountsWithResponse(ctx, &ListAccountsParams{}))(200)
	expect(c.GetAccountWithResponse(ctx, account))(200)
	webhooks(c)
	client := clients(c, account)
	changes := deposits(c, account, client)
	events(c, changes)
	expect(c.DeleteAccountWithResponse(ctx, account))(204)
}

// connect makes a client that sends the API key.
func connect(key string) *ClientWithResponses {
	c, err := NewClientWithResponses(os.Args[1], WithRequestEditorFn(func(_ context.Context, req *http.Request) error {
		req.Header.Set("x-api-key", key)
		return nil
	}))
	check(err)
	return c
}

// rolled replaces the API key of a client, and deletes the old one.
func rolled(old *ClientWithResponses) *ClientWithResponses {
	me := expect(old.GetMeWithResponse(ctx))(200).JSON200.Data
	key := expect(old.CreateApiKeyWithResponse(ctx, CreateApiKeyRequest{Name: "story"}))(201).JSON201.Data
	c := connect(key.Key)
	expect(c.DeleteApiKeyWithResponse(ctx, me.KeyId))(204)
	if refused := expect(old.GetMeWithResponse(ctx))(401).JSON401; refused.Error.Code != "api_key_revoked" {
		fail("the old key is refused with %s", refused.Error.Code)
	}
	live := 0
	for _, k := range expect(c.ListApiKeysWithResponse(ctx, &ListApiKeysParams{}))(200).JSON200.Data {
		if k.RevokedAt == nil {
			live++
		}
	}
	if live != 1 {
		fail("%d live keys after the old one was replaced", live)
	}
	return c
}

// clients makes two clients, changes and erases one, and gives the other.
func clients(c *ClientWithResponses, account string) (clientID string) {
	create := func(body CreateClientRequest) string {
		return expect(c.CreateClientWithResponse(ctx, &CreateClientParams{}, body))(201).JSON201.Data.Id
	}
	kept := create(
		CreateClientRequest{AccountId: account, Email: "jeanne@example.com", FirstName: "Jeanne", LastName: "Martin"})
	leaving := create(
		CreateClientRequest{AccountId: account, Email: "paul@example.com", FirstName: "Paul", LastName: "Petit"})
	grand, email := "Grand", "PAUL@example.com"
	if got := expect(c.UpdateClientWithResponse(ctx, leaving, &UpdateClientParams{},
		UpdateClientRequest{LastName: &grand}))(200).JSON200.Data; got.LastName != grand || got.FirstName != "Paul" {
		fail("the client is called %s %s after the change", got.FirstName, got.LastName)
	}
	if found := expect(c.ListClientsWithResponse(ctx, &ListClientsParams{Email: &email}))(200).JSON200.Data; len(
		found) != 1 || found[0].Id != leaving {
		fail("the list finds %v", found)
	}
	expect(c.DeleteClientWithResponse(ctx, leaving))(204)
	expect(c.GetClientWithResponse(ctx, leaving))(404)
	expect(c.GetClientWithResponse(ctx, kept))(200)
	return kept
}

// events follows the feed until it has as many changes of deposits as were made, and compares the feed with the list.
func events(c *ClientWithResponses, changes int) {
	const most = 30 // answers
	var after int64
	wait, limit, seen := 1, 2, 0
	for range most {
		feed := expect(c.ReadFeedWithResponse(ctx, &ReadFeedParams{After: &after, WaitSeconds: &wait, Limit: &limit}))(
			200).JSON200
		for _, e := range feed.Data {
			after++
			if e.Sequence != after {
				fail("number %d follows on %d", e.Sequence, after-1)
			}
			if expect(c.GetEventWithResponse(ctx, e.Id))(200).JSON200.Data.Event != e.Event {
				fail("event %d has two names", e.Sequence)
			}
			if data, err := e.Data.AsDepositEventData(); err == nil && data.AmountCents > 0 {
				seen++
			}
		}
		if feed.NextAfter != after {
			fail("nextAfter is %d behind event %d", feed.NextAfter, after)
		}
		if seen == changes {
			break
		}
	}
	if listed := expect(c.ListEventsWithResponse(ctx, &ListEventsParams{}))(200).JSON200.Data; seen != changes ||
		int64(len(listed)) != after {
		fail("the feed has %d of %d changes, the list %d events and the feed %d", seen, changes, len(listed), after)
	}
}

func webhooks(c *ClientWithResponses) {
	events := []EventName{"deposit.activated", "deposit.cancelled"}
	hook := expect(c.CreateWebhookWithResponse(ctx, &CreateWebhookParams{},
		CreateWebhookRequest{Url: "https://93.184.216.34/hook", Events: &events}))(201).JSON201.Data
	expect(c.ListWebhooksWithResponse(ctx, &ListWebhooksParams{}))(200)
	expect(c.GetWebhookWithResponse(ctx, hook.Id))(200)
	enabled := true
	expect(c.UpdateWebhookWithResponse(ctx, hook.Id, UpdateWebhookRequest{Enabled: &enabled}))(200)
	expect(c.RotateWebhookSecretWithResponse(ctx, hook.Id))(200)
	asked := ExplainWebhookRequest{Headers: map[string]string{"X-Svc-Timestamp": "1"}, Body: "e30="}
	if cause := expect(c.ExplainWebhookWithResponse(ctx, hook.Id, asked))(200).JSON200.Data.Cause; cause != "missing_header" {
		fail("headers without a signature are explained as %s", cause)
	}
	expect(c.ExplainConnectUrlWithResponse(ctx, ExplainConnectRequest{Url: "https://dashboard.example.com/register?ts=1"}))(200)
	sent := expect(c.TestWebhookWithResponse(ctx, hook.Id))(200).JSON200.Data
	expect(c.ListWebhookDeliveriesWithResponse(ctx, hook.Id, &ListWebhookDeliveriesParams{}))(200)
	expect(c.GetWebhookDeliveryWithResponse(ctx, hook.Id, sent.Id))(200)
	expect(c.RedeliverWebhookDeliveryWithResponse(ctx, hook.Id, sent.Id))(202)
	expect(c.ReplayWebhookDeliveriesWithResponse(ctx, hook.Id,
		ReplayRequest{From: time.Now().Add(-time.Hour).UTC(), To: time.Now().Add(time.Hour).UTC()}))(202)
	expect(c.DeleteWebhookWithResponse(ctx, hook.Id))(204)
}

// deposits takes a deposit to each of its ends, and tells the number of changes that have an event.
func deposits(c *ClientWithResponses, account, client string) (changes int) {
	create := func() string {
		now := time.Now().UTC()
		body := CreateDepositRequest{AccountId: account, Amount: 123.45, ContractStartAt: now,
			ContractEndAt: now.AddDate(0, 0, 7), ClientId: &client}
		return expect(c.CreateDepositWithResponse(ctx, &CreateDepositParams{}, body))(201).JSON201.Data.Id
	}
	active := func() string {
		id := create()
		expect(c.SimulateDepositWithResponse(ctx, id, SimulateDepositRequest{Outcome: "activate"}))(200)
		changes++
		return id
	}
	id := create()
	if got := expect(c.GetDepositWithResponse(ctx, id))(200).JSON200.Data; got.Amount != 123.45 ||
		got.AmountCents != 12345 {
		fail("the amount came back as %v, %v cents", got.Amount, got.AmountCents)
	}
	expect(c.ListDepositsWithResponse(ctx, &ListDepositsParams{}))(200)
	links(c, id)
	expect(c.CancelDepositWithResponse(ctx, id, &CancelDepositParams{}, CancelDepositRequest{}))(200)
	changes++
	expect(c.SendDepositLinkWithResponse(ctx, id, &SendDepositLinkParams{}, SendLinkRequest{Email: "jeanne@example.com"}))(
		409)
	expect(c.ReleaseDepositWithResponse(ctx, active(), &ReleaseDepositParams{}, ReleaseDepositRequest{}))(200)
	changes++
	amount := 70.5
	captured := expect(c.CaptureDepositWithResponse(ctx, active(), &CaptureDepositParams{},
		CaptureDepositRequest{Amount: &amount}))(200).JSON200.Data
	if captured.CapturedAmountCents != 7050 {
		fail("captured %v cents", captured.CapturedAmountCents)
	}
	return changes + 1
}

// links mails the link of a deposit under an idempotency key, once and in a batch.
func links(c *ClientWithResponses, deposit string) {
	key := "3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84"
	send := func() string {
		return expect(c.SendDepositLinkWithResponse(ctx, deposit, &SendDepositLinkParams{IdempotencyKey: &key},
			SendLinkRequest{Email: "jeanne@example.com"}))(202).JSON202.Data.MessageId
	}
	if first, again := send(), send(); first != again {
		fail("a repeat of the request made the mail %s beside %s", again, first)
	}
	batch := SendLinkBatchRequest{Recipients: []SendLinkRequest{{Email: "paul@example.com"}, {Email: "anna@example.com"}}}
	if mails := expect(c.SendDepositLinkBatchWithResponse(ctx, deposit, &SendDepositLinkBatchParams{}, batch))(
		202).JSON202.Data; len(mails) != 2 || mails[1].Email != "anna@example.com" {
		fail("the batch made the mails %v", mails)
	}
}

type answer interface {
	StatusCode() int
}

// expect returns a function that checks the status, and the typed body of a success with a body.
func expect[T answer](res T, err error) func(status int) T {
	check(err)
	return func(status int) T {
		value := reflect.ValueOf(res).Elem()
		if res.StatusCode() != status {
			fail("%T: %d instead of %d: %s", res, res.StatusCode(), status, value.FieldByName("Body").Bytes())
		}
		if typed := value.FieldByName(fmt.Sprintf("JSON%d", status)); status != http.StatusNoContent &&
			(!typed.IsValid() || typed.IsNil()) {
			fail("%T: the body has no type for %d", res, status)
		}
		return res
	}
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
