package partnerapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/webhook"
)

// activeFirst names the operations whose deposit must be active.
var activeFirst = []string{"captureDeposit", "releaseDeposit"}

// Every example of a request is sent to the real service, with real ids in place of those of the example, and gets the
// documented success. The contract compares the answers with the document; the examples of responses are checked by
// TestDocuments_AreValidForTwoReaders.
func TestDocument_EveryRequestExampleRuns(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	w := newWorld(t)
	ran := 0
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for method, op := range item.Operations() {
			c := w.caller(t, fmt.Sprintf("partner-%d", ran))
			c.sendExample(method, path, op, newThings(c, op.OperationID))
			ran++
		}
	}
	require.Empty(t, w.contract.Unseen())
}

// sendExample sends the example of an operation without query, then once with each query parameter.
func (c *caller) sendExample(method, path string, op *openapi3.Operation, things map[string]string) {
	c.t.Helper()
	header := []string{}
	queries := []string{""}
	for _, ref := range op.Parameters {
		switch p := ref.Value; {
		case p.Name == "Idempotency-Key":
			header = append(header, p.Name, fmt.Sprint(p.Example))
		case p.In == openapi3.ParameterInQuery && p.Example != nil && p.Name != "cursor":
			queries = append(queries, "?"+url.QueryEscape(p.Name)+"="+url.QueryEscape(listed(real(p.Example, things))))
		}
	}
	var body any
	if op.RequestBody != nil {
		body = real(op.RequestBody.Value.Content.Get("application/json").Example, things)
		require.NotNil(c.t, body, "%s has no example", op.OperationID)
	}
	filled := placeholder.ReplaceAllStringFunc(strings.TrimPrefix(path, partnerapi.Prefix),
		func(name string) string { return things[strings.Trim(name, "{}")] })
	if op.OperationID == "testWebhook" {
		c.dispatch(webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: http.StatusNoContent})
	}
	for _, query := range queries {
		r := c.do(method, filled+query, body, header...)
		require.Contains(c.t, successes(op), r.status, "%s %s%s: %s", method, filled, query, r.body)
	}
}

// listed writes the value of a query parameter; lists have commas.
func listed(value any) string {
	items, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	words := make([]string, len(items))
	for i := range items {
		words[i] = fmt.Sprint(items[i])
	}
	return strings.Join(words, ",")
}

var (
	placeholder = regexp.MustCompile(`\{\w+\}`)
	exampleID   = regexp.MustCompile(`^(acct|cli|dep|pwh|dlv|key)_[0-9a-z]{26}$`)
)

// successes lists the documented statuses of success.
func successes(op *openapi3.Operation) (statuses []int) {
	for status := range op.Responses.Map() {
		if n, err := strconv.Atoi(status); err == nil && n < http.StatusMultipleChoices {
			statuses = append(statuses, n)
		}
	}
	return statuses
}

// real puts real ids in place of those of an example.
func real(example any, things map[string]string) any {
	switch v := example.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			out[name] = real(value, things)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = real(v[i], things)
		}
		return out
	case string:
		if m := exampleID.FindStringSubmatch(v); m != nil {
			return things[m[1]]
		}
	}
	return example
}

// newThings makes an object of each kind for the caller, and returns their ids by the name of the path parameter and by
// prefix.
func newThings(c *caller, operation string) map[string]string {
	c.t.Helper()
	account := c.link("hotel-4711")
	hook := text(c.t, c.post("/webhooks",
		object{"url": "https://93.184.216.34/hook", "events": []string{"deposit.activated"}}).ok(201), "id")
	client := text(c.t, c.post("/clients",
		object{"accountId": account, "email": "j@example.com", "firstName": "J", "lastName": "M"}).ok(201), "id")
	deposit := c.created(account, "clientId", client, "depositUrlGeneration", true, "returnUrl",
		"https://pms.example.com/back")
	delivery := ""
	if strings.Contains(operation, "WebhookDelivery") {
		done := c.dispatch(webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: http.StatusNoContent})
		delivery = text(c.t, c.post("/webhooks/"+hook+"/test", nil).ok(200), "id")
		require.NoError(c.t, <-done)
	}
	event := ""
	if operation == "getEvent" || operation == "readFeed" {
		c.simulated(c.created(account), "activate")
		event = c.eventID()
		c.renumber(1042) // the number in the example of the feed
	}
	key := text(c.t, c.post("/api-keys", object{"name": "another"}).ok(201), "id")
	if slices.Contains(activeFirst, operation) {
		c.simulated(deposit, "activate")
	}
	return map[string]string{
		"accountId": account, "webhookId": hook, "clientId": client, "depositId": deposit, "deliveryId": delivery,
		"keyId": key, "eventId": event,
		"acct": account, "pwh": hook, "cli": client, "dep": deposit, "dlv": delivery, "key": key, "evt": event,
	}
}
