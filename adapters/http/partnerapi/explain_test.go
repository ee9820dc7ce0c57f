package partnerapi_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/partners"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/servicetest"
)

func signed(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

// receiver is an endpoint of a partner with a delivery that it received.
type receiver struct {
	*caller
	hook, secret     string
	otherHook, other string
	connect          string
	body, ts         string
	delivery         string
	now              time.Time
}

// hardBody has the characters that encoders write differently.
const hardBody = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"` + "%" +
	`","rentalContract":"BK/17 Zoë \u003c3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]}}`

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	c, _ := newStory(t)
	r := &receiver{caller: c, connect: "svc_cs_0123456789abcdef0123456789abcdef", now: c.clock.Now()}
	c.Write(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Partners.SetConnectSecret(ctx, c.partner.ID, secret.Text(r.connect))
	})
	subscribe := func() (hook, key string) {
		made := c.post("/webhooks", object{"url": hookURL}).ok(201)
		return text(t, made, "id"), text(t, made, "secret")
	}
	r.hook, r.secret = subscribe()
	r.otherHook, r.other = subscribe()
	deposit := servicetest.NewID()
	r.body = strings.Replace(hardBody, "%", id.Deposit.Of(deposit), 1)
	r.delivery = r.deliver(r.hook, deposit)
	r.deliver(r.otherHook, deposit)
	r.ts = strconv.FormatInt(r.now.Unix(), 10)
	return r
}

// deliver stores a delivery to a subscription, with the receiver's body, and gives the id of the delivery.
func (r *receiver) deliver(hook string, deposit id.ID) string {
	r.t.Helper()
	d := webhook.Delivery{ID: servicetest.NewID(), SubscriptionID: parsedID(r.t, id.Subscription, hook),
		EventID: servicetest.NewID(), Event: webhook.DepositActivated, DepositID: deposit, Body: []byte(r.body)}
	r.Write(func(ctx context.Context, repos *postgres.Store) error { return repos.Deliveries.InsertTest(ctx, d) })
	return id.Delivery.Of(d.ID)
}

func parsedID(t testing.TB, prefix id.Prefix, text string) id.ID {
	t.Helper()
	parsed, ok := prefix.Parse(text)
	require.True(t, ok, text)
	return parsed
}

// ask sends an explain request. An empty signature or ts leaves its header out.
func (r *receiver) ask(signature, ts, body, computed string) object {
	r.t.Helper()
	headers := object{"content-type": "application/json", "x-svc-event": "deposit.activated"}
	if signature != "" {
		headers["x-svc-signature"] = signature
	}
	if ts != "" {
		headers["X-SVC-TIMESTAMP"] = ts
	}
	question := object{"headers": headers, "body": base64.StdEncoding.EncodeToString([]byte(body))}
	if computed != "" {
		question["computed"] = computed
	}
	answer := r.post("/webhooks/"+r.hook+"/explain", question)
	got := answer.ok(200)
	for _, key := range []string{r.secret, r.other, r.connect, r.key, signed(r.secret, r.ts+"."+r.body)} {
		require.NotContains(r.t, string(answer.body), key)
	}
	require.Equal(r.t, got["cause"] == "valid", got["valid"])
	return got
}

// seeded is a mistake of a receiver, or of something between it and the service.
type seeded struct {
	name                          string
	signature, ts, body, computed string // "": as sent; none of computed
	want                          string
	found                         bool // the answer names the delivery
}

// absent stands for a header that did not arrive.
const absent = "absent"

func (r *receiver) seeds() []seeded {
	digest := signed(r.secret, r.ts+"."+r.body)
	raw, err := hex.DecodeString(digest)
	require.NoError(r.t, err)
	in64 := base64.StdEncoding.EncodeToString(raw)
	was := func(d time.Duration) (ts, signature string) {
		ts = strconv.FormatInt(r.now.Add(d).Unix(), 10)
		return ts, "sha256=" + signed(r.secret, ts+"."+r.body)
	}
	stale, ofStale := was(-302 * time.Second)
	future, ofFuture := was(360 * time.Second)
	retried, ofRetried := was(-2 * time.Hour)
	mine := func(key, message string) string { return "sha256=" + signed(key, message) }
	message := r.ts + "." + r.body
	at, data := strings.Index(r.body, `,"createdAt":`), strings.Index(r.body, `,"data":`)
	swapped := r.body[:at] + r.body[data:len(r.body)-1] + r.body[at:data] + "}"
	python := strings.NewReplacer(`":`, `": `, `,"`, `, "`, `,1.5,true,{`, `, 1.5, true, {`, `ë`, `\u00eb`,
		`\u003c`, "<").Replace(r.body)
	php := strings.NewReplacer("/", `\/`, `ë`, `\u00eb`, `\u003c`, "<").Replace(r.body)
	node := strings.ReplaceAll(r.body, `\u003c`, "<")
	sorted := sortedJSON(r.t, r.body)
	latin1 := strings.ReplaceAll(r.body, "ë", "Ã«")
	return []seeded{
		{"nothing", "", "", "", "", "valid", true},
		{"nothing, and computed right", "", "", "", "sha256=" + digest, "valid", true},
		{"no signature", absent, "", "", "", "missing_header", true},
		{"no timestamp", "", absent, "", "", "missing_header", true},
		{"the signature cut off", "sha256=" + digest[:40], "", "", "", "malformed_header", true},
		{"the signature twice", "sha256=" + digest + ", sha256=" + digest, "", "", "", "malformed_header", true},
		{"the timestamp as a date", "", "2026-06-02T11:20:09Z", "", "", "malformed_header", true},
		{"the prefix cut off", digest, "", "", "", "prefix_missing", true},
		{"the signature in upper case", "sha256=" + strings.ToUpper(digest), "", "", "", "upper_case", true},
		{"the signature in base64", "sha256=" + in64, "", "", "", "base64", true},
		{"a timestamp too old", ofStale, stale, "", "", "stale", true},
		{"a timestamp ahead", ofFuture, future, "", "", "future", true},
		{"a retry, two hours ago", ofRetried, retried, "", "", "stale", true},
		{"the timestamp in milliseconds", "", r.ts + "123", "", "", "milliseconds", true},
		{"milliseconds, signed so", mine(r.secret, r.ts+"123."+r.body), r.ts + "123", "", "", "milliseconds", true},
		{"another timestamp", "", strconv.FormatInt(r.now.Unix()-1, 10), "", "", "header_changed", true},
		{"another signature", "sha256=" + strings.Repeat("0", 64), "", "", "", "header_changed", true},
		{"written again by Python", "", "", python, "", "body_reserialized", true},
		{"written again by PHP", "", "", php, "", "body_reserialized", true},
		{"written again by Node", "", "", node, "", "body_reserialized", true},
		{"written again with sorted keys", "", "", sorted, "", "body_reserialized", true},
		{"written again in our form, with data before createdAt", "", "", swapped, "", "body_reserialized", true},
		{"an empty object", "", "", "{}", "", "body_reserialized", true},
		{"an empty body", "", "", "", "", "body_changed", true},
		{"a line end added", "", "", r.body + "\n", "", "body_changed", true},
		{"a value changed", "", "", strings.Replace(r.body, "50000", "60000", 1), "", "body_changed", true},
		{"cut off", "", "", r.body[:100], "", "body_changed", true},
		{"in another character set", "", "", latin1, "", "body_changed", true},
		{"sent for another subscription", mine(r.other, message), "", "", "", "other_subscription_secret", true},
		{"signed by the receiver's test with the connect secret", mine(r.connect, message), "", "", "", "wrong_secret_kind",
			true},
		{"signed by the receiver's test with the API key", mine(r.key, message), "", "", "", "wrong_secret_kind", true},
		{"signed by the receiver's test in another order", mine(r.secret, r.body+"."+r.ts), "", "", "", "order", true},
		{"a body of nobody", mine("svc_whsec_unknown", r.ts+`.{"event":"x"}`), "", `{"event":"x"}`, "", "mismatch", false},

		{"computed without the prefix", "", "", "", digest, "prefix_missing", true},
		{"computed in upper case", "", "", "", "sha256=" + strings.ToUpper(digest), "upper_case", true},
		{"computed in base64", "", "", "", "sha256=" + in64, "base64", true},
		{"computed in base64 for URLs", "", "", "", base64.RawURLEncoding.EncodeToString(raw), "base64", true},
		{"computed in base64 of the hex", "", "", "", base64.StdEncoding.EncodeToString([]byte(digest)), "base64", true},
		{"computed of body and timestamp", "", "", "", mine(r.secret, r.body+"."+r.ts), "order", true},
		{"computed without the dot", "", "", "", mine(r.secret, r.ts+r.body), "order", true},
		{"computed of the body alone", "", "", "", mine(r.secret, r.body), "order", true},
		{"computed with milliseconds", "", "", "", mine(r.secret, r.ts+"000."+r.body), "milliseconds", true},
		{"computed with a line end in the secret", "", "", "", mine(r.secret+"\n", message), "secret_whitespace", true},
		{"computed with a BOM before the secret", "", "", "", mine("\ufeff"+r.secret, message), "secret_whitespace", true},
		{"computed with the secret in quotes", "", "", "", mine(`"`+r.secret+`"`, message), "wrong_secret_kind", true},
		{"computed with a space in the secret", "", "", "", mine(" "+r.secret, message), "secret_whitespace", true},
		{"computed with the secret of another subscription", "", "", "", mine(r.other, message),
			"other_subscription_secret", true},
		{"computed with the connect secret", "", "", "", mine(r.connect, message), "wrong_secret_kind", true},
		{"computed with the API key", "", "", "", mine(r.key, message), "wrong_secret_kind", true},
		{"computed without the secret's prefix", "", "", "", mine(strings.TrimPrefix(r.secret, "svc_whsec_"), message),
			"wrong_secret_kind", true},
		{"computed with the form for Standard Webhooks", "", "", "",
			mine(webhook.StandardSecret(secret.Text(r.secret)), message), "wrong_secret_kind", true},
		{"computed of Python's body", "", "", "", mine(r.secret, r.ts+"."+python), "body_reserialized", true},
		{"computed of PHP's body", "", "", "", mine(r.secret, r.ts+"."+php), "body_reserialized", true},
		{"computed of Node's body", "", "", "", mine(r.secret, r.ts+"."+node), "body_reserialized", true},
		{"computed of sorted keys", "", "", "", mine(r.secret, r.ts+"."+sorted), "body_reserialized", true},
		{"computed of an empty object", "", "", "", mine(r.secret, r.ts+".{}"), "body_reserialized", true},
		{"computed of a pretty body", "", "", "", mine(r.secret, r.ts+"."+indented(r.t, node)), "body_reserialized", true},
		{"computed of an empty body", "", "", "", mine(r.secret, r.ts+"."), "body_changed", true},
		{"computed of [object Object]", "", "", "", mine(r.secret, r.ts+".[object Object]"), "body_changed", true},
		{"computed of another character set", "", "", "", mine(r.secret, r.ts+"."+latin1), "body_changed", true},
		{"computed of a body with a line end", "", "", "", mine(r.secret, message+"\n"), "body_changed", true},
		{"computed with an old secret", "", "", "", mine("svc_whsec_old", message), "mismatch", true},
		{"computed otherwise", "", "", "", "md5", "mismatch", true},
		{"computed wrong, and explained late", ofStale, stale, "", mine(r.connect, stale+"."+r.body), "wrong_secret_kind",
			true},
		{"computed right of a body written again", "", "", python, mine(r.secret, r.ts+"."+python), "body_reserialized",
			true},
	}
}

func sortedJSON(t testing.TB, body string) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(body), &v))
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func indented(t testing.TB, body string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, []byte(strings.ReplaceAll(body, "{}", `{"a":1}`)), "", "  "))
	return strings.Replace(out.String(), "{\n        \"a\": 1\n      }", "{}", 1)
}

func TestExplainWebhook_NamesTheCauseOfEachMistake(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	for _, m := range r.seeds() {
		t.Run(m.name, func(t *testing.T) {
			signature, ts, body := "sha256="+signed(r.secret, r.ts+"."+r.body), r.ts, r.body
			for to, from := range map[*string]string{&signature: m.signature, &ts: m.ts, &body: m.body} {
				switch from {
				case "":
				case absent:
					*to = ""
				default:
					*to = from
				}
			}
			if m.name == "an empty body" {
				body = ""
			}
			got := r.ask(signature, ts, body, m.computed)
			require.Equal(t, m.want, got["cause"], got)
			require.Equal(t, m.found, got["deliveryId"] != nil, got)
			if m.found {
				require.Equal(t, r.delivery, got["deliveryId"])
			}
		})
	}
}

// The libraries tell the same cause, as hint or else as reason: sdk/vectors/explain.json has the cases that they can
// tell.
func TestExplainWebhook_NamesTheCauseOfTheLibraries(t *testing.T) {
	t.Parallel()
	const prefix, least = "explained the same: ", 25
	causes, compared := map[string]string{}, 0
	for _, m := range newReceiver(t).seeds() {
		causes[m.name] = m.want
	}
	for _, v := range vectors(t) {
		name, same := strings.CutPrefix(v.Name, prefix)
		if !same {
			continue
		}
		refused := v.Want["error"].(object)
		want := refused["hint"]
		if want == nil {
			want = refused["reason"]
		}
		require.Equal(t, want, causes[name], name)
		compared++
	}
	require.GreaterOrEqual(t, compared, least)
}

func TestExplainWebhook_SaysWhoseSecretItIs(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	right, message := "sha256="+signed(r.secret, r.ts+"."+r.body), r.ts+"."+r.body
	for key, words := range map[string]string{r.connect: "your connect secret", r.key: "the API key of this request",
		r.other: r.otherHook} {
		require.Contains(t, r.ask(right, r.ts, r.body, signed(key, message))["message"], words)
		require.Contains(t, r.ask("sha256="+signed(key, message), r.ts, r.body, "")["message"], words)
	}
}

func TestExplainWebhook_TriesTheSecretsOfThisPartnerAlone(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	message := r.ts + "." + r.body
	stranger := r.caller.world.caller(t, "stranger")
	foreign := text(t, stranger.post("/webhooks", object{"url": hookURL}).ok(201), "secret")
	gone := r.post("/webhooks", object{"url": hookURL}).ok(201)
	require.Equal(t, 204, r.do(http.MethodDelete, "/webhooks/"+text(t, gone, "id"), nil).status)
	old := r.secret
	r.secret = text(t, r.post("/webhooks/"+r.hook+"/rotate-secret", nil).ok(200), "secret")
	right := "sha256=" + signed(r.secret, message)
	for _, key := range []string{foreign, stranger.key, text(t, gone, "secret"), old} {
		require.Equal(t, "mismatch", r.ask(right, r.ts, r.body, signed(key, message))["cause"])
	}
	stranger.post("/webhooks/"+r.hook+"/explain", object{"headers": object{}, "body": ""}).
		refused(404, "webhook_not_found")
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
		r.ask("", "", "", "")
	})
}

func TestExplain_ThirtyAMinute_ForBothTogether(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(_ *fiber.App, d *partnerapi.Deps) { d.ExplanationsPerMinute = 0 })
	c, other := w.caller(t, "acme"), w.caller(t, "other")
	hook := c.hook()
	for n := range partners.ExplanationsPerMinute {
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
