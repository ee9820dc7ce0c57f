package partnerapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/webhook"
)

// failures creates a subscription with n failed deliveries.
func (c *caller) failures(account string, n int) (hook string) {
	c.t.Helper()
	hook = c.hook()
	states := make([]webhook.State, n)
	for i := range states {
		states[i] = webhook.Dispatched
		c.simulated(c.created(account), "activate")
	}
	for _, claim := range c.relay(states...) {
		require.NoError(c.t, c.record(claim, webhook.Attempt{Result: webhook.ResultNon2xx, ResponseStatus: 500},
			webhook.Verdict{State: webhook.Failed}))
	}
	return hook
}

// steps runs every due step of a replay, in place of the dispatcher.
func (c *caller) steps() {
	c.t.Helper()
	for advanced := true; advanced; {
		var err error
		advanced, err = c.Webhooks.AdvanceReplay(c.t.Context())
		require.NoError(c.t, err)
	}
}

func TestRedeliver_MakesANewDeliveryOfTheSameBytes(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.failures(account, 1)
	first := c.get(hook + "/deliveries").list()[0]
	path := hook + "/deliveries/" + text(t, first, "id")
	rings := c.rings.Load()

	made := c.post(path+"/redeliver", nil).ok(202)
	require.Greater(t, c.rings.Load(), rings)
	require.Regexp(t, `^dlv_[0-9a-z]{26}$`, made["id"])
	require.Equal(t, object{
		"id": made["id"], "webhookId": first["webhookId"], "eventId": first["eventId"], "event": first["event"],
		"depositId": first["depositId"], "test": false,
		"status": "pending", "attemptCount": 0.0, "nextAttemptAt": made["nextAttemptAt"], "createdAt": made["createdAt"],
		"redeliveryOf": first["id"], "bodySha256": first["bodySha256"], "attempts": []any{},
	}, made)
	require.Equal(t, []object{made, first}, c.get(hook+"/deliveries").list(),
		"the newest first, and the first one as it was")
	kept := c.get(hook + "/deliveries/" + text(t, made, "id")).ok(200)
	require.Equal(t, c.get(path).ok(200)["body"], kept["body"])

	again := c.post(hook+"/deliveries/"+text(t, made, "id")+"/redeliver", nil).ok(202)
	require.Equal(t, first["id"], again["redeliveryOf"], "always of the original")
	require.NotEqual(t, made["id"], again["id"])
}

func TestRedeliver_OfATest_IsATestOfTheSameDeposit(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	hook := c.hook()
	done := c.dispatch(webhook.Attempt{Result: webhook.ResultTimeout})
	sent := c.post(hook+"/test", nil).ok(200)
	require.NoError(t, <-done)
	made := c.post(hook+"/deliveries/"+text(t, sent, "id")+"/redeliver", nil).ok(202)
	require.Equal(t, []any{true, sent["depositId"], sent["eventId"]},
		[]any{made["test"], made["depositId"], made["eventId"]})
}

func TestRedeliverAndReplay_OfADisabledWebhook_AreRefused(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.failures(account, 1)
	sent := text(t, c.get(hook + "/deliveries").list()[0], "id")
	c.do(http.MethodPatch, hook, object{"enabled": false}).ok(200)
	c.leavesNothing(t, func() {
		c.post(hook+"/deliveries/"+sent+"/redeliver", nil).refused(409, "webhook_disabled")
		c.post(hook+"/replay", object{"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}).refused(409,
			"webhook_disabled")
	})
}

func TestReplay_SendsTheFailedOnesOfTheSpanAgain(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	hook := c.failures(account, 3)
	failed := c.get(hook + "/deliveries").list()
	span := object{"from": failed[2]["createdAt"], "to": c.clock.Now().Add(time.Hour).Format(time.RFC3339)}

	require.EqualValues(t, 3, c.post(hook+"/replay", span).ok(202)["matched"])
	require.Len(t, c.get(hook+"/deliveries").list(), 3, "the work is the dispatcher's")
	c.steps()
	pending := c.get(hook + "/deliveries?status=pending").list()
	require.Len(t, pending, 3)
	for i, made := range pending {
		require.Equal(t, []any{failed[i]["id"], failed[i]["bodySha256"]}, []any{made["redeliveryOf"], made["bodySha256"]})
	}
	for status, matched := range map[string]int{"failed": 3, "succeeded": 0, "pending": 0, "retrying": 0} {
		span["status"] = status
		require.EqualValues(t, matched, c.post(hook+"/replay", span).ok(202)["matched"], status)
	}
	require.EqualValues(t, 0, c.post(hook+"/replay",
		object{"from": "0001-01-01T00:00:00Z", "to": failed[2]["createdAt"]}).ok(202)["matched"], "to is not included")
	require.EqualValues(t, 3,
		c.post(hook+"/replay", object{"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59Z"}).ok(202)["matched"])
	require.EqualValues(t, 0,
		c.post(hook+"/replay", object{"from": "0001-01-01T00:00:00Z", "to": "0001-01-02T00:00:00Z"}).ok(202)["matched"])
}

func TestReplay_OfTheWrongShape(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	replay := c.failures(account, 1) + "/replay"
	const noon, later = "2026-08-01T12:00:00Z", "2026-08-01T13:00:00Z"
	c.leavesNothing(t, func() {
		for _, k := range []struct {
			body          object
			code, message string
		}{
			{object{}, "missing_field", "from: is required"},
			{object{"from": noon}, "missing_field", "to: is required"},
			{object{"from": noon, "to": nil}, "invalid_field", "to: must be a string, not null"},
			{object{"from": "yesterday", "to": noon}, "invalid_field",
				"from: must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"},
			{object{"from": noon, "to": "2026-08-01T15:00:00+02:00"}, "invalid_field",
				"to: must be an RFC 3339 timestamp in UTC, such as 2026-08-01T15:00:00Z"},
			{object{"from": 1, "to": noon}, "invalid_field", "from: must be a string"},
			{object{"from": noon, "to": later, "status": "lost"}, "invalid_field",
				"status: must be one of pending, retrying, succeeded, failed"},
			{object{"from": noon, "to": noon}, "invalid_date_range", "to: must be after from."},
			{object{"from": later, "to": noon}, "invalid_date_range", "to: must be after from."},
		} {
			require.Equal(t, k.message, c.post(replay, k.body).refused(400, k.code), "%v", k.body)
		}
	})
	require.Equal(t, "The request body is missing. Send a JSON object.", c.post(replay, nil).refused(400, "invalid_json"))
}
