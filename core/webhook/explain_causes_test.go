package webhook_test

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// signed is the digest of a message, in hex.
func signed(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

// receiver is a partner's endpoint with a delivery that it received, and the partner's other secrets.
type receiver struct{ secret, other, connect, key, body, ts string }

// hardBody has the characters that encoders write differently.
const hardBody = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"dep_1",` +
	`"rentalContract":"BK/17 Zoë \u003c3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]}}`

func newReceiver() receiver {
	return receiver{secret: ownSecret.Reveal(), other: "svc_whsec_OTHER00000000000", connect: "svc_cs_0123456789abcdef",
		key: "svc_pk_test_0123456789abcdef", body: hardBody, ts: strconv.FormatInt(explainedAt.Unix(), 10)}
}

var delivered, otherHook = id.ID{1}, id.ID{2}

// ask explains a delivery. An empty signature or ts leaves its header out.
func (r receiver) ask(signature, ts, body, computed string) webhook.SignatureExplanation {
	headers := webhook.ReceivedHeaders{"Content-Type": {"application/json"}, "X-Svc-Event": {"deposit.activated"}}
	if signature != "" {
		headers["x-svc-signature"] = []string{signature}
	}
	if ts != "" {
		headers["X-SVC-TIMESTAMP"] = []string{ts}
	}
	sent := []webhook.SentDelivery{{ID: id.ID{9}, Body: []byte(`{"event":"deposit.captured"}`)}}
	if body != `{"event":"x"}` {
		sent = append(sent, webhook.SentDelivery{ID: delivered, Body: []byte(r.body)})
	}
	return webhook.ExplainSignature(webhook.ReceivedDelivery{Headers: headers, Body: []byte(body), Computed: computed},
		webhook.CandidateSecrets{Own: ownSecret, Others: map[id.ID]secret.Text{otherHook: secret.Text(r.other)},
			Connect: secret.Text(r.connect), API: secret.Text(r.key)}, sent, explainedAt)
}

// seeded is a mistake of a receiver, or of something between it and the service.
type seeded struct {
	name                          string
	signature, ts, body, computed string // "": as sent; none of computed
	want                          webhook.SignatureCause
	found                         bool // the answer names the delivery
}

// absent stands for a header or a body that did not arrive.
const absent = "absent"

func (r receiver) seeds(t *testing.T) []seeded {
	t.Helper()
	digest := signed(r.secret, r.ts+"."+r.body)
	raw, err := hex.DecodeString(digest)
	require.NoError(t, err)
	in64 := base64.StdEncoding.EncodeToString(raw)
	was := func(d time.Duration) (ts, signature string) {
		ts = strconv.FormatInt(explainedAt.Add(d).Unix(), 10)
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
	sorted := sortedJSON(t, r.body)
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
		{"another timestamp", "", strconv.FormatInt(explainedAt.Unix()-1, 10), "", "", "header_changed", true},
		{"another signature", "sha256=" + strings.Repeat("0", 64), "", "", "", "header_changed", true},
		{"written again by Python", "", "", python, "", "body_reserialized", true},
		{"written again by PHP", "", "", php, "", "body_reserialized", true},
		{"written again by Node", "", "", node, "", "body_reserialized", true},
		{"written again with sorted keys", "", "", sorted, "", "body_reserialized", true},
		{"written again in our form, with data before createdAt", "", "", swapped, "", "body_reserialized", true},
		{"an empty object", "", "", "{}", "", "body_reserialized", true},
		{"an empty body", "", "", absent, "", "body_changed", true},
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
			mine(webhook.StandardWebhooksSecret(ownSecret), message), "wrong_secret_kind", true},
		{"computed of Python's body", "", "", "", mine(r.secret, r.ts+"."+python), "body_reserialized", true},
		{"computed of PHP's body", "", "", "", mine(r.secret, r.ts+"."+php), "body_reserialized", true},
		{"computed of Node's body", "", "", "", mine(r.secret, r.ts+"."+node), "body_reserialized", true},
		{"computed of sorted keys", "", "", "", mine(r.secret, r.ts+"."+sorted), "body_reserialized", true},
		{"computed of an empty object", "", "", "", mine(r.secret, r.ts+".{}"), "body_reserialized", true},
		{"computed of a pretty body", "", "", "", mine(r.secret, r.ts+"."+indented(t, node)), "body_reserialized", true},
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

func TestExplain_NamesTheCauseOfEachMistake(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	for _, m := range r.seeds(t) {
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
		got := r.ask(signature, ts, body, m.computed)
		require.Equal(t, m.want, got.Cause, m.name)
		require.Equal(t, m.found, got.DeliveryID == delivered, m.name)
		require.Equal(t, m.want == webhook.CauseOtherSubscriptionSecret, got.OtherID == otherHook, m.name)
		for _, key := range []string{r.secret, r.other, r.connect, r.key, signed(r.secret, r.ts+"."+r.body)} {
			require.NotContains(t, got.Words, key, m.name)
		}
	}
}

// The libraries tell the same cause, as hint or else as reason: sdk/vectors/explain.json has the cases that they can
// tell.
func TestExplain_NamesTheCauseOfTheLibraries(t *testing.T) {
	t.Parallel()
	causes, compared := map[string]webhook.SignatureCause{}, 0
	for _, m := range newReceiver().seeds(t) {
		causes[m.name] = m.want
	}
	text, err := os.ReadFile("../../sdk/vectors/explain.json")
	require.NoError(t, err)
	var vectors []struct {
		Name string
		Want struct {
			Error struct{ Reason, Hint webhook.SignatureCause }
		}
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	for _, v := range vectors {
		if name, same := strings.CutPrefix(v.Name, "explained the same: "); same {
			require.Equal(t, cmp.Or(v.Want.Error.Hint, v.Want.Error.Reason), causes[name], name)
			compared++
		}
	}
	require.GreaterOrEqual(t, compared, 25)
}

func TestExplain_SaysWhoseSecretItIs(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	right, message := "sha256="+signed(r.secret, r.ts+"."+r.body), r.ts+"."+r.body
	for key, words := range map[string]string{r.connect: "your connect secret", r.key: "the API key of this request",
		r.other: id.Subscription.Of(otherHook)} {
		require.Contains(t, r.ask(right, r.ts, r.body, signed(key, message)).Words, words)
		require.Contains(t, r.ask("sha256="+signed(key, message), r.ts, r.body, "").Words, words)
	}
}
