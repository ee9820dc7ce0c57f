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

// The story calls every operation, in the order of a partner's integration. The contract checks every response, and at
// the end that every documented success has occurred.
func TestStory_EveryOperationAnswersAsDocumented(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)

	me := c.get("/me").ok(200)
	require.Equal(t, object{
		"partnerId": me["partnerId"], "slug": "acme", "name": "Partner acme", "environment": "staging", "keyId": c.keyID,
		"limits": object{"requestsPerMinute": 1e6, "writesPerMinute": 5e5},
	}, me)

	key := c.post("/api-keys", object{"name": "second"}).ok(201)
	delete(key, "key")
	require.Equal(t, key, c.get("/api-keys?limit=1").list()[0])
	require.Equal(t, http.StatusNoContent, c.do(http.MethodDelete, "/api-keys/"+text(t, key, "id"), nil).status)

	listed := c.get("/accounts").list()
	require.Len(t, listed, 1)
	require.Equal(t, object{
		"accountId": account, "externalId": "hotel-1", "status": "active", "linkedAt": listed[0]["linkedAt"],
		"limits": object{"minAmountCents": 7000.0, "maxAmountCents": 250000.0, "currency": "EUR"},
	}, listed[0])
	require.Equal(t, listed[0], c.get("/accounts/"+account).ok(200))

	hook := c.post("/webhooks", object{"url": "https://93.184.216.34/hook"}).ok(201)
	require.Regexp(t, `^svc_whsec_[A-Za-z0-9_-]{32,}$`, hook["secret"])
	require.Len(t, hook["events"], 6)
	hookPath := "/webhooks/" + text(t, hook, "id")
	delete(hook, "secret")
	require.Equal(t, hook, c.get(hookPath).ok(200))
	require.Equal(t, []object{hook}, c.get("/webhooks").list())
	hook["events"] = []any{"deposit.activated"}
	require.Equal(t, hook, c.do(http.MethodPatch, hookPath, object{"events": []string{"deposit.activated"}}).ok(200))
	rotated := c.post(hookPath+"/rotate-secret", nil).ok(200)
	require.Regexp(t, `^svc_whsec_`, rotated["secret"])

	explained := c.post(hookPath+"/explain", object{"headers": object{}, "body": "e30="}).ok(200)
	require.Equal(t, object{"valid": false, "cause": "missing_header",
		"message": "X-Svc-Signature or X-Svc-Timestamp is missing."}, explained)
	explained = c.post("/connect/explain", object{"url": "https://dashboard.test/register?partner=acme"}).ok(200)
	require.Equal(t, object{"valid": false, "cause": "missing_parameter",
		"message": "A signed parameter is missing. It is external_id."}, explained)

	client := c.post("/clients", object{"accountId": account, "email": "jeanne@example.com", "firstName": "Jeanne",
		"lastName": "Martin", "phone": "+33612345678", "locale": "fr"}).ok(201)
	require.Equal(t, client, c.get("/clients/"+text(t, client, "id")).ok(200))
	require.Equal(t, []object{client}, c.get("/clients?email=JEANNE@example.com&accountId="+account).list())
	leaving := text(t, c.post("/clients", object{"accountId": account, "email": "paul@example.com", "firstName": "Paul",
		"lastName": "Petit", "phone": "+33612345678"}).ok(201), "id")
	renamed := c.do(http.MethodPatch, "/clients/"+leaving, object{"lastName": "Grand", "phone": nil}).ok(200)
	require.Equal(t, object{"id": leaving, "accountId": account, "email": "paul@example.com", "firstName": "Paul",
		"lastName": "Grand", "createdAt": renamed["createdAt"]}, renamed)
	require.Equal(t, http.StatusNoContent, c.do(http.MethodDelete, "/clients/"+leaving, nil).status)

	made := c.post("/deposits", draft(account, "clientId", client["id"], "depositUrlGeneration", true, "returnUrl",
		"https://pms.example.com/b?id=1&x=<y>", "metadata", object{"k": "v"}, "locale", "en-GB")).ok(201)
	require.Regexp(t, `^https://dashboard\.test/checkout/[A-Za-z0-9_-]{43}$`, made["depositUrl"])
	require.Regexp(t, `^D-[2-9A-Z]{4}-[2-9A-Z]{4}$`, made["reference"])
	require.Equal(t,
		object{"id": made["id"], "reference": made["reference"], "status": "pending", "depositUrl": made["depositUrl"]}, made)

	depositPath := "/deposits/" + text(t, made, "id")
	got := c.get(depositPath).ok(200)
	require.Equal(t, object{
		"id": made["id"], "reference": made["reference"], "status": "pending", "accountId": account, "externalId": "hotel-1",
		"amount": 500.0, "amountCents": 50000.0, "currency": "EUR", "capturedAmountCents": 0.0,
		"contractStartAt": "2030-08-01T15:00:00.000Z", "contractEndAt": "2030-08-08T10:00:00.000Z", "rentalContract": "BK-1",
		"clientId":   client["id"],
		"client":     object{"id": client["id"], "email": "jeanne@example.com", "firstName": "Jeanne", "lastName": "Martin"},
		"depositUrl": made["depositUrl"], "returnUrl": "https://pms.example.com/b?id=1&x=<y>",
		"checkoutExpiresAt": "2030-08-08T10:00:00.000Z",
		"coversContract":    false,
		"partnerContext":    object{"partnerId": me["partnerId"], "partnerName": "Partner acme", "externalId": "hotel-1"},
		"metadata":          object{"k": "v"}, "version": 1.0, "createdAt": got["createdAt"], "updatedAt": got["createdAt"],
	}, got)
	require.Equal(t, []object{got}, c.get("/deposits").list())

	link := c.post(depositPath+"/send-link", object{"email": "jeanne@example.com"}).ok(202)
	require.Regexp(t, `^msg_[0-9a-z]{26}$`, link["messageId"])
	require.Equal(t, object{"email": "jeanne@example.com", "messageId": link["messageId"], "status": "queued"}, link)
	require.Equal(t, 202, c.post(depositPath+"/send-link/batch",
		object{"recipients": []object{{"email": "paul@example.com", "locale": "fr"}}}).status)

	active := c.simulated(text(t, made, "id"), "activate")
	require.Equal(t, "active", active["status"])
	require.NotEmpty(t, active["activatedAt"])
	captured := c.post(depositPath+"/capture",
		object{"amount": json.Number("180.5"), "reason": "damage", "description": "table"}).ok(200)
	require.Equal(t, []any{"captured", "claim", 18050.0, made["depositUrl"]},
		[]any{captured["status"], captured["statusReason"], captured["capturedAmountCents"], captured["depositUrl"]})
	require.Equal(t, captured, c.get(depositPath).ok(200))

	cancelled := c.post("/deposits/"+c.created(account)+"/cancel",
		object{"reason": "duplicate", "comment": "twice"}).ok(200)
	require.Equal(t, []any{"cancelled", "by_partner"}, []any{cancelled["status"], cancelled["statusReason"]})

	secured := c.created(account)
	c.simulated(secured, "activate")
	released := c.post("/deposits/"+secured+"/release", object{"comment": "all well"}).ok(200)
	require.Equal(t, []any{"close", "released", 0.0},
		[]any{released["status"], released["statusReason"], released["capturedAmountCents"]})

	done := c.dispatch(
		webhook.Attempt{Result: webhook.ResultSuccess, ResponseStatus: 204, Duration: 12 * time.Millisecond})
	delivered := c.post(hookPath+"/test", nil).ok(200)
	require.NoError(t, <-done)
	require.Equal(t, []any{true, "succeeded", "deposit.activated", hook["id"]},
		[]any{delivered["test"], delivered["status"], delivered["event"], delivered["webhookId"]})
	require.Equal(t, []object{delivered}, c.get(hookPath+"/deliveries").list())
	detail := c.get(hookPath + "/deliveries/" + text(t, delivered, "id")).ok(200)
	c.contract.CheckWebhook(t, []byte(text(t, detail, "body")))

	again := c.post(hookPath+"/deliveries/"+text(t, delivered, "id")+"/redeliver", nil).ok(202)
	require.Equal(t, []any{"pending", delivered["id"], delivered["bodySha256"]},
		[]any{again["status"], again["redeliveryOf"], again["bodySha256"]})
	replay := c.post(hookPath+"/replay", object{"from": "2026-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}).ok(202)
	require.Regexp(t, `^rpl_[0-9a-z]{26}$`, replay["replayId"])
	require.Equal(t, object{"replayId": replay["replayId"], "matched": 0.0}, replay)

	c.relayAll()
	fed, next, _ := c.feed("")
	require.Len(t, fed, next)
	require.Len(t, c.get("/events").list(), next)
	require.Equal(t, fed[0]["id"], c.get("/events/" + text(t, fed[0], "id")).ok(200)["id"])

	require.Equal(t, http.StatusNoContent, c.do(http.MethodDelete, hookPath, nil).status)
	require.Equal(t, http.StatusNoContent, c.do(http.MethodDelete, "/accounts/"+account, nil).status)
	require.Empty(t, c.contract.Unseen())
}

func TestProduction_HasItsOwnKeysAndNoSimulator(t *testing.T) {
	t.Parallel()
	c, account := newStory(t, func(s *servicetest.Setup) { s.Config.Environment = partner.Production })
	require.Regexp(t, `^svc_pk_live_`, c.key)
	require.Equal(t, "production", c.get("/me").ok(200)["environment"])
	c.post("/test/deposits/"+c.created(account)+"/simulate", object{"outcome": "activate"}).refused(404, "route_not_found")
	c.get("/me", "x-api-key", "svc_pk_test_abcdefghijklmnopqrstuvwxyz012345").refused(401, "invalid_api_key")
}
