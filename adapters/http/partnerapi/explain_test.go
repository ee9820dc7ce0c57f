package partnerapi_test

import (
	"context"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/partners"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

// receiver is an endpoint of a partner with a delivery that it received. core/webhook and core/connect name the cause
// of each mistake; here is what the service knows for them.
type receiver struct {
	*caller
	account              string
	hook, otherHook      string
	secret, other        string
	connect              string
	body, delivery       string
	timestamp, signature string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	c, account := newStory(t)
	r := &receiver{caller: c, account: account, connect: "svc_cs_0123456789abcdef0123456789abcdef"}
	c.setConnectSecret(secret.Text(r.connect))
	subscribe := func() (hook, key string) {
		made := c.post("/webhooks", object{"url": hookURL}).ok(201)
		return text(t, made, "id"), text(t, made, "secret")
	}
	r.hook, r.secret = subscribe()
	r.otherHook, r.other = subscribe()
	deposit := servicetest.NewID()
	r.body = `{"event":"deposit.activated","data":{"id":"` + id.Deposit.Of(deposit) + `"}}`
	subscription, ok := id.Subscription.Parse(r.hook)
	require.True(t, ok)
	d := webhook.Delivery{ID: servicetest.NewID(), SubscriptionID: subscription, EventID: servicetest.NewID(),
		Event: webhook.EventDepositActivated, DepositID: deposit, Body: []byte(r.body)}
	r.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Deliveries.InsertTest(ctx, d)
	})
	r.delivery = id.Delivery.Of(d.ID)
	r.timestamp, r.signature = webhook.Sign(secret.Text(r.secret), d.Body, c.clock.Now())
	return r
}

func (c *caller) setConnectSecret(key secret.Text) {
	c.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Partners.SetConnectSecret(ctx, c.partner.ID, key)
	})
}

// signed is a signature that a receiver computed with a key.
func (r *receiver) signed(key string) string {
	at, err := strconv.ParseInt(r.timestamp, 10, 64)
	require.NoError(r.t, err)
	_, signature := webhook.Sign(secret.Text(key), []byte(r.body), time.Unix(at, 0))
	return signature
}

// ask explains the delivery with a signature that the receiver computed; "" for none.
func (r *receiver) ask(timestamp, signature, computed string) object {
	r.t.Helper()
	question := object{"headers": object{"x-svc-signature": signature, "HTTP_X_SVC_TIMESTAMP": timestamp},
		"body": base64.StdEncoding.EncodeToString([]byte(r.body))}
	if computed != "" {
		question["computed"] = computed
	}
	answer := r.post("/webhooks/"+r.hook+"/explain", question)
	for _, key := range []string{r.secret, r.other, r.connect, r.key, r.signature} {
		require.NotContains(r.t, string(answer.body), key)
	}
	return answer.ok(200)
}

func TestExplainWebhook_KnowsTheDeliveryAndTheSecretsOfThisPartnerAlone(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	stranger := r.caller.world.caller(t, "stranger")
	foreign := text(t, stranger.post("/webhooks", object{"url": hookURL}).ok(201), "secret")
	gone := r.post("/webhooks", object{"url": hookURL}).ok(201)
	require.Equal(t, 204, r.do("DELETE", "/webhooks/"+text(t, gone, "id"), nil).status)
	const other, kind, mismatch = "other_subscription_secret", "wrong_secret_kind", "mismatch"
	for key, want := range map[string]struct{ cause, words string }{
		r.secret:                {"valid", ""},
		r.other:                 {other, r.otherHook},
		r.connect:               {kind, "your connect secret"},
		r.key:                   {kind, "the API key of this request"},
		foreign:                 {mismatch, ""},
		stranger.key:            {mismatch, ""},
		text(t, gone, "secret"): {mismatch, ""},
	} {
		got := r.ask(r.timestamp, r.signature, r.signed(key))
		require.Equal(t, []any{want.cause, want.cause == "valid", r.delivery},
			[]any{got["cause"], got["valid"], got["deliveryId"]}, want)
		require.Contains(t, got["message"], want.words)
	}
	hoursAgo, ofThen := webhook.Sign(secret.Text(r.secret), []byte(r.body), r.clock.Now().Add(-2*time.Hour))
	retried := r.ask(hoursAgo, ofThen, "")
	require.Equal(t, []any{"stale", r.delivery}, []any{retried["cause"], retried["deliveryId"]}, "found by its deposit")
	old := r.secret
	r.secret = text(t, r.post("/webhooks/"+r.hook+"/rotate-secret", nil).ok(200), "secret")
	require.Equal(t, mismatch, r.ask(r.timestamp, r.signed(r.secret), r.signed(old))["cause"])
}

func TestExplain_RefusesWhatIsNoQuestion(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.leavesNothing(t, func() {
		for field, body := range map[string]object{
			"body":     {"headers": object{}, "body": "not base64!"},
			"headers":  {"headers": []string{"a"}, "body": ""},
			"computed": {"headers": object{}, "body": "", "computed": strings.Repeat("0", 256)},
		} {
			require.Contains(t, r.post("/webhooks/"+r.hook+"/explain", body).refused(400, "invalid_field"), field)
		}
		r.post("/webhooks/"+r.hook+"/explain",
			object{"headers": object{}, "body": strings.Repeat("AAAA", 17_000)}).refused(413, "payload_too_large")
		require.Contains(t, r.post("/connect/explain", object{"url": "https://x.example"}).refused(400, "invalid_field"),
			"url: has no query")
		require.Equal(t, "missing_header", r.ask("", "", "")["cause"])
	})
}

func TestExplainConnectURL_KnowsSecretsRevocationsAndPages(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ago := func(d time.Duration) string { return strconv.FormatInt(r.clock.Now().Add(-d).Unix(), 10) }
	of := func(key, ext, ts string) string {
		return dashboardBase + "/register?" + url.Values{"partner": {"acme"}, "external_id": {ext}, "ts": {ts},
			"sig": {connect.SignURL(secret.Text(key), "acme", ext, ts)}}.Encode()
	}
	explained := func(url string) (cause, words string) {
		got := r.post("/connect/explain", object{"url": url}).ok(200)
		require.Equal(t, got["cause"] == "valid", got["valid"])
		return text(t, got, "cause"), text(t, got, "message")
	}
	const valid = "The URL is valid."
	good := of(r.connect, "hotel 47+11/ä", ago(0))
	for _, c := range []struct{ url, cause, words string }{
		{good, "valid", valid},
		{good + "&return_url=#fragment", "valid", valid},
		{good + "&return_url=https%3A%2F%2Fpms.example%2Fx", "valid", valid},
		{strings.Replace(good, "/register?", "/login?", 1), "valid", valid},
		{strings.Replace(good, "/register?", "/foo?", 1), "valid", "it leads elsewhere"},
		{strings.Replace(good, "dashboard", "evil", 1), "valid", "it leads elsewhere"},
		{good + "&return_url=javascript%3Aalert", "valid", "its return_url is not allowed"},
		{of(r.key, "hotel", ago(0)), "wrong_secret_kind", "API key"},
		{of(r.secret, "hotel", ago(0)), "wrong_secret_kind", "signing secret"},
		{strings.Replace(of(r.connect, "hotel", ago(0)), "hotel", "h%F4tel", 1), "missing_parameter",
			"external_id, which is empty, or no UTF-8"},
	} {
		cause, words := explained(c.url)
		require.Equal(t, c.cause, cause, c.url)
		require.Contains(t, words, c.words, c.url)
		require.Equal(t, c.words == valid, words == valid, words)
	}
	r.revoke(r.account)
	cause, _ := explained(of(r.connect, "hotel-1", ago(time.Hour)))
	require.Equal(t, "revoked", cause)
	r.setConnectSecret("")
	cause, _ = explained(good)
	require.Equal(t, "missing_connect_secret", cause)
}

func TestExplain_ThirtyAMinute_ForBothTogether(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(_ *fiber.App, d *partnerapi.Deps) { d.ExplanationsPerMinute = 0 })
	c, other := w.caller(t, "acme"), w.caller(t, "other")
	hook := c.hook()
	for n := range partners.SignatureExplanationsPerMinute {
		if n%2 == 0 {
			c.post(hook+"/explain", object{"headers": object{}, "body": ""}).ok(200)
		} else {
			c.post("/connect/explain", object{"url": "https://x.example/?"}).ok(200)
		}
	}
	for _, refused := range []reply{c.post(hook+"/explain", object{"headers": object{}, "body": ""}),
		c.post("/connect/explain", object{"url": "https://x.example/?"})} {
		refused.refused(429, "rate_limited")
		require.NotEmpty(t, refused.header.Get("Retry-After"))
		require.Contains(t, refused.header.Get("RateLimit-Policy"), `"explain";q=30;w=60`)
	}
	c.get("/me").ok(200)
	other.post("/connect/explain", object{"url": "https://x.example/?"}).ok(200)
}
