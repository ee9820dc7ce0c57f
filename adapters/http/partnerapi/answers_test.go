package partnerapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

// Each object tells what was sent, to the last field: when it is made, alone and in its list. The contract walk
// compares forms, and here stand the values.
func TestAnswers_TellEveryFieldOfTheirObjects(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)

	me := c.get("/me").ok(200)
	require.Equal(t, object{
		"partnerId": me["partnerId"], "slug": "acme", "name": "Partner acme", "environment": "staging", "keyId": c.keyID,
		"limits": object{"requestsPerMinute": 1e6, "writesPerMinute": 5e5},
	}, me)

	linked := c.get("/accounts/" + account).ok(200)
	require.Equal(t, object{
		"accountId": account, "externalId": "hotel-1", "status": "active", "linkedAt": linked["linkedAt"],
		"limits": object{"minAmountCents": 7000.0, "maxAmountCents": 250000.0, "currency": "EUR"},
	}, linked)
	require.Equal(t, []object{linked}, c.get("/accounts").list())

	hook := c.post("/webhooks", object{"url": "https://93.184.216.34/hook"}).ok(201)
	require.Regexp(t, `^svc_whsec_[A-Za-z0-9_-]{32,}$`, hook["secret"])
	require.Len(t, hook["events"], 6)
	require.Equal(t, object{"state": "healthy", "since": hook["createdAt"], "pending": 0.0}, hook["health"])
	hookPath := "/webhooks/" + text(t, hook, "id")
	rotated := c.post(hookPath+"/rotate-secret", nil).ok(200)
	require.Regexp(t, `^svc_whsec_`, rotated["secret"])
	require.NotEqual(t, hook["secret"], rotated["secret"])
	delete(hook, "secret")
	require.Equal(t, []any{hook["id"], hook["url"], hook["events"]},
		[]any{rotated["id"], rotated["url"], rotated["events"]})
	require.Equal(t, hook, c.get(hookPath).ok(200))
	require.Equal(t, []object{hook}, c.get("/webhooks").list())

	sent := object{"accountId": account, "email": "zoe@example.com", "firstName": "Zoé <3", "lastName": "O'Neil & sons",
		"phone": "+33612345678", "locale": "fr"}
	client := c.post("/clients", sent).ok(201)
	sent["id"], sent["createdAt"] = client["id"], client["createdAt"]
	require.Equal(t, sent, client)
	require.Equal(t, client, c.get("/clients/"+text(t, client, "id")).ok(200))
	require.Equal(t, []object{client}, c.get("/clients").list())

	made := c.post("/deposits", draft(account, "clientId", client["id"], "depositUrlGeneration", true, "returnUrl",
		"https://pms.example.com/b?id=1&x=<y>", "metadata", object{"k": "v"}, "locale", "en-GB")).ok(201)
	require.Regexp(t, `^https://dashboard\.test/checkout/[A-Za-z0-9_-]{43}$`, made["depositUrl"])
	require.Regexp(t, `^D-[2-9A-Z]{4}-[2-9A-Z]{4}$`, made["reference"])
	require.Equal(t,
		object{"id": made["id"], "reference": made["reference"], "status": "pending", "depositUrl": made["depositUrl"]}, made)
	got := c.get("/deposits/" + text(t, made, "id")).ok(200)
	require.Equal(t, object{
		"id": made["id"], "reference": made["reference"], "status": "pending", "accountId": account, "externalId": "hotel-1",
		"amount": 500.0, "amountCents": 50000.0, "currency": "EUR", "capturedAmountCents": 0.0,
		"contractStartAt": "2030-08-01T15:00:00.000Z", "contractEndAt": "2030-08-08T10:00:00.000Z", "rentalContract": "BK-1",
		"clientId": client["id"],
		"client": object{"id": client["id"], "email": "zoe@example.com", "firstName": "Zoé <3",
			"lastName": "O'Neil & sons"},
		"depositUrl": made["depositUrl"], "returnUrl": "https://pms.example.com/b?id=1&x=<y>",
		"checkoutExpiresAt": "2030-08-08T10:00:00.000Z",
		"coversContract":    false,
		"partnerContext":    object{"partnerId": me["partnerId"], "partnerName": "Partner acme", "externalId": "hotel-1"},
		"metadata":          object{"k": "v"}, "version": 1.0, "createdAt": got["createdAt"], "updatedAt": got["createdAt"],
	}, got)
	require.Equal(t, []object{got}, c.get("/deposits").list())
}

// A deposit goes through the acts of a partner, each of which tells its status, its reason and its event.
func TestActs_OnADeposit_TellWhatHappened(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for _, k := range []struct {
		outcome, act   string
		body           any
		status, reason string
		captured       float64
		at             string
		events         []string
	}{
		{"fail_payment", "cancel", object{"reason": "duplicate", "comment": "twice"}, "cancelled", "by_partner", 0,
			"cancelledAt", []string{"deposit.status_changed", "deposit.cancelled"}},
		{"activate", "release", object{"comment": "all well"}, "close", "released", 0, "closedAt",
			[]string{"deposit.activated", "deposit.expired"}},
		{"activate", "capture", nil, "captured", "claim", 50_000, "capturedAt",
			[]string{"deposit.activated", "deposit.captured"}},
		{"activate", "capture", object{"amount": json.Number("180.5"), "reason": "damage"}, "captured", "claim", 18_050,
			"capturedAt", []string{"deposit.activated", "deposit.captured"}},
	} {
		d := c.created(account, "depositUrlGeneration", true, "returnUrl", "http://localhost:3000/back?x=1")
		before := c.simulated(d, k.outcome)
		require.Equal(t, k.outcome == "activate", before["activatedAt"] != nil)
		got := c.post("/deposits/"+d+"/"+k.act, k.body).ok(200)
		require.Equal(t, []any{k.status, k.reason, k.captured, before["depositUrl"], before["expiresAt"]},
			[]any{got["status"], got["statusReason"], got["capturedAmountCents"], got["depositUrl"], got["expiresAt"]}, k.act)
		require.NotEmpty(t, got[k.at])
		require.Equal(t, got, c.get("/deposits/"+d).ok(200))
		require.Equal(t, k.events, c.events(t, d))
		c.leavesNothing(t, func() { require.Equal(t, 409, c.post("/deposits/"+d+"/"+k.act, nil).status) })
	}
}

// A delivery tells its attempts, and its bytes as they were sent.
func TestAnswers_OfADelivery_TellItsAttemptsAndItsBytes(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	hookPath := c.hook("deposit.status_changed", "deposit.activated")
	rings := c.rings.Load()
	done := c.dispatch(webhook.Attempt{Result: webhook.ResultNon2xx, ResponseStatus: 500, Snippet: "oh no",
		Duration: 12 * time.Millisecond})
	sent := c.post(hookPath+"/test", nil).ok(200)
	require.NoError(t, <-done)
	require.Greater(t, c.rings.Load(), rings, "the dispatcher is woken")
	attempts, _ := sent["attempts"].([]any)
	require.Len(t, attempts, 1)
	attempt, _ := attempts[0].(object)
	require.Equal(t, object{"number": 1.0, "durationMs": 12.0, "responseStatus": 500.0, "responseSnippet": "oh no",
		"error": "non_2xx", "startedAt": attempt["startedAt"]}, attempt)
	require.Regexp(t, `^dep_test_[0-9a-z]{26}$`, sent["depositId"])
	require.Equal(t, object{
		"id": sent["id"], "webhookId": hookPath[len("/webhooks/"):], "eventId": sent["eventId"],
		"event": "deposit.activated", "depositId": sent["depositId"], "test": true, "status": "failed",
		"failureReason": "attempts_exhausted", "attemptCount": 1.0, "createdAt": sent["createdAt"],
		"bodySha256": sent["bodySha256"], "attempts": attempts,
	}, sent)
	require.Equal(t, []object{sent}, c.get(hookPath+"/deliveries?depositId="+text(t, sent, "depositId")).list())
	c.deliveredBody(hookPath, sent)

	rings = c.rings.Load()
	again := c.post(hookPath+"/deliveries/"+text(t, sent, "id")+"/redeliver", nil).ok(202)
	require.Greater(t, c.rings.Load(), rings)
	require.Equal(t, []any{"pending", 0.0, []any{}, sent["id"], sent["bodySha256"], sent["eventId"], true},
		[]any{again["status"], again["attemptCount"], again["attempts"], again["redeliveryOf"], again["bodySha256"],
			again["eventId"], again["test"]})
	replay := c.post(hookPath+"/replay", object{"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59Z"}).ok(202)
	require.Regexp(t, `^rpl_[0-9a-z]{26}$`, replay["replayId"])
	require.Equal(t, object{"replayId": replay["replayId"], "matched": 0.0}, replay, "a test is not repeated")
	require.Equal(t, http.StatusNoContent, c.do(http.MethodDelete, hookPath, nil).status)
	c.get(hookPath).refused(404, "webhook_not_found")
}

func TestProduction_HasItsOwnKeysAndNoSimulator(t *testing.T) {
	t.Parallel()
	c, account := newStory(t, func(s *servicetest.Setup) { s.Config.Environment = partner.EnvironmentProduction })
	require.Regexp(t, `^svc_pk_live_`, c.key)
	require.Equal(t, "production", c.get("/me").ok(200)["environment"])
	c.post("/test/deposits/"+c.created(account)+"/simulate", object{"outcome": "activate"}).refused(404, "route_not_found")
	c.get("/me", "x-api-key", "svc_pk_test_abcdefghijklmnopqrstuvwxyz012345").refused(401, "invalid_api_key")
}
