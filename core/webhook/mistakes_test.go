package webhook_test

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// The delivery of these tests, sent at explainedAt, and the body as other encoders write it.
const (
	otherSecret   = "svc_whsec_OTHER00000000000"
	sentTimestamp = "1780391667"
	sentBody      = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"dep_1","rentalContract":"BK/17 Zoë \u003c3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]}}`
	byNode        = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"dep_1","rentalContract":"BK/17 Zoë <3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]}}`
	byPHP         = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"dep_1","rentalContract":"BK\/17 Zo\u00eb <3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]}}`
	byPython      = `{"event": "deposit.activated", "createdAt": "2026-06-02T11:20:09.512Z", "data": {"id": "dep_1", "rentalContract": "BK/17 Zo\u00eb <3", "amountCents": 50000, "client": null, "tags": ["a", 1.5, true, {}]}}`
	sortedByGo    = `{"createdAt":"2026-06-02T11:20:09.512Z","data":{"amountCents":50000,"client":null,"id":"dep_1","rentalContract":"BK/17 Zoë \u003c3","tags":["a",1.5,true,{}]},"event":"deposit.activated"}`
	swapped       = `{"event":"deposit.activated","data":{"id":"dep_1","rentalContract":"BK/17 Zoë \u003c3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]},"createdAt":"2026-06-02T11:20:09.512Z"}`
	inLatin1      = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"dep_1","rentalContract":"BK/17 ZoÃ« \u003c3","amountCents":50000,"client":null,"tags":["a",1.5,true,{}]}}`
	pretty        = `{
  "event": "deposit.activated",
  "createdAt": "2026-06-02T11:20:09.512Z",
  "data": {
    "id": "dep_1",
    "rentalContract": "BK/17 Zoë <3",
    "amountCents": 50000,
    "client": null,
    "tags": [
      "a",
      1.5,
      true,
      {}
    ]
  }
}`
)

// keys are the secrets of the partner of these tests.
var keys = webhook.CandidateSecrets{Own: ownSecret, Others: map[id.ID]secret.Text{{2}: otherSecret},
	Connect: "svc_cs_EXAMPLE", API: "svc_pk_test_EXAMPLE"}

func digestOf(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

// own signs with the secret of the subscription, by with another key.
func own(message string) string { return by(ownSecret.Reveal(), message) }

func by(key, message string) string { return "sha256=" + digestOf(key, message) }

// explained asks about the delivery, or what came of it: "" stands for a part as it was sent.
func explained(signature, timestamp, body, computed string) webhook.SignatureExplanation {
	headers := webhook.ReceivedHeaders{}
	for name, values := range map[string][2]string{
		"x-svc-signature": {signature, own(sentTimestamp + "." + sentBody)}, "X-SVC-TIMESTAMP": {timestamp, sentTimestamp},
	} {
		if values[0] != absent {
			headers[name] = []string{cmp.Or(values[0], values[1])}
		}
	}
	sent := []webhook.SentDelivery{{ID: id.ID{9}, Body: []byte(`{"event":"another"}`)}, {ID: id.ID{1}, Body: []byte(sentBody)}}
	return webhook.ExplainSignature(webhook.ReceivedDelivery{Headers: headers, Body: []byte(cmp.Or(body, sentBody)),
		Computed: computed},
		keys, sent, explainedAt)
}

func TestExplain_OfAReceivedDelivery_NamesTheMistake(t *testing.T) {
	t.Parallel()
	const message, late, ahead, nobody = sentTimestamp + "." + sentBody, "1780384467", "1780392000", `{"event":"x"}`
	for name, c := range map[string]struct {
		signature, timestamp, body, computed string
		want                                 webhook.SignatureCause
	}{
		"nothing":                  {"", "", "", "", webhook.CauseValid},
		"no signature":             {absent, "", "", "", webhook.CauseNoHeader},
		"no timestamp":             {"", absent, "", "", webhook.CauseNoHeader},
		"the signature twice":      {own(message) + ", " + own(message), "", "", "", webhook.CauseMalformedHeader},
		"the prefix cut off":       {own(message)[7:], "", "", "", webhook.CauseUnprefixedSignature},
		"two hours ago":            {own(late + "." + sentBody), late, "", "", webhook.CauseStaleTimestamp},
		"ahead":                    {own(ahead + "." + sentBody), ahead, "", "", webhook.CauseFutureTimestamp},
		"milliseconds":             {"", sentTimestamp + "123", "", "", webhook.CauseMillisecondTimestamp},
		"another timestamp":        {"", "1780391666", "", "", webhook.CauseHeaderChanged},
		"another signature":        {"sha256=" + strings.Repeat("0", 64), "", "", "", webhook.CauseHeaderChanged},
		"written again":            {"", "", byPython, "", webhook.CauseBodyReserialized},
		"written in another order": {"", "", swapped, "", webhook.CauseBodyReserialized},
		"a value changed":          {"", "", strings.Replace(sentBody, "50000", "60000", 1), "", webhook.CauseBodyChanged},
		"in another character set": {"", "", inLatin1, "", webhook.CauseBodyChanged},
		"cut off":                  {"", "", sentBody[:100], "", webhook.CauseBodyChanged},
		"of another subscription":  {by(otherSecret, message), "", "", "", webhook.CauseOtherSubscriptionSecret},
		"by the connect secret":    {by("svc_cs_EXAMPLE", message), "", "", "", webhook.CauseWrongSecretKind},
		"by the API key":           {by("svc_pk_test_EXAMPLE", message), "", "", "", webhook.CauseWrongSecretKind},
		"signed in another order":  {own(sentBody + "." + sentTimestamp), "", "", "", webhook.CauseWrongSigningOrder},
		"of nobody":                {by("svc_whsec_x", "x"), "", nobody, "", webhook.CauseSignatureMismatch},
		"of nobody, computed right": {by("svc_whsec_x", "x"), "", nobody, own(sentTimestamp + "." + nobody),
			webhook.CauseSignatureMismatch},
		"of nobody, computed wrong": {by("svc_whsec_x", "x"), "", nobody, own(nobody), webhook.CauseWrongSigningOrder},
		"written again, and computed so": {"", "", byPython, own(sentTimestamp + "." + byPython),
			webhook.CauseBodyReserialized},
		"late, and computed wrong": {own(late + "." + sentBody), late, "", by("svc_cs_EXAMPLE", late+"."+sentBody),
			webhook.CauseWrongSecretKind},
	} {
		got := explained(c.signature, c.timestamp, c.body, c.computed)
		require.Equal(t, c.want, got.Cause, "%s: %s", name, got.Words)
		require.Equal(t, c.body == nobody, got.DeliveryID != id.ID{1}, name)
		require.Equal(t, c.want == webhook.CauseOtherSubscriptionSecret, got.OtherID == id.ID{2}, name)
	}
}

func TestExplain_OfWhatAReceiverComputed_NamesTheMistake(t *testing.T) {
	t.Parallel()
	const message = sentTimestamp + "." + sentBody
	digest := digestOf(ownSecret.Reveal(), message)
	raw, err := hex.DecodeString(digest)
	require.NoError(t, err)
	in64 := base64.StdEncoding.EncodeToString(raw)
	tail, err := base64.RawURLEncoding.DecodeString("EXAMPLE000000000") // of the secret; a last letter is no whole byte
	require.NoError(t, err)
	body := func(written string) string { return own(sentTimestamp + "." + written) }
	for name, c := range map[string]struct {
		computed string
		want     webhook.SignatureCause
		words    string
	}{
		"nothing":              {"SHA256=" + digest, webhook.CauseValid, ""},
		"no prefix":            {digest, webhook.CauseUnprefixedSignature, ""},
		"upper case":           {"sha256=" + strings.ToUpper(digest), webhook.CauseUpperCaseSignature, ""},
		"base64":               {in64, webhook.CauseBase64Signature, ""},
		"base64 for URLs":      {base64.RawURLEncoding.EncodeToString(raw), webhook.CauseBase64Signature, ""},
		"base64 of the hex":    {base64.StdEncoding.EncodeToString([]byte(digest)), webhook.CauseBase64Signature, ""},
		"body and timestamp":   {own(sentBody + "." + sentTimestamp), webhook.CauseWrongSigningOrder, ""},
		"no dot":               {own(sentTimestamp + sentBody), webhook.CauseWrongSigningOrder, ""},
		"the body alone":       {own(sentBody), webhook.CauseWrongSigningOrder, ""},
		"the timestamp alone":  {own(sentTimestamp), webhook.CauseWrongSigningOrder, ""},
		"milliseconds":         {own(sentTimestamp + "000." + sentBody), webhook.CauseMillisecondTimestamp, ""},
		"a line end behind":    {by(ownSecret.Reveal()+"\n", message), webhook.CauseSecretWhitespace, ""},
		"a BOM before":         {by("\ufeff"+ownSecret.Reveal(), message), webhook.CauseSecretWhitespace, ""},
		"the secret in quotes": {by(`"`+ownSecret.Reveal()+`"`, message), webhook.CauseWrongSecretKind, "in quotes"},
		"another secret of theirs": {by(otherSecret, message), webhook.CauseOtherSubscriptionSecret,
			id.Subscription.Of(id.ID{2})},
		"the connect secret":      {by("svc_cs_EXAMPLE", message), webhook.CauseWrongSecretKind, "connect secret"},
		"the API key":             {by("svc_pk_test_EXAMPLE", message), webhook.CauseWrongSecretKind, "API key"},
		"no prefix of the secret": {by("EXAMPLE0000000000", message), webhook.CauseWrongSecretKind, "without its prefix"},
		"the secret's bytes":      {by(string(tail), message), webhook.CauseWrongSecretKind, "without its prefix"},
		"the Standard form": {by(webhook.StandardWebhooksSecret(ownSecret), message), webhook.CauseWrongSecretKind,
			"Standard"},
		"an empty secret":        {by("", message), webhook.CauseWrongSecretKind, "It is empty."},
		"Node's body":            {body(byNode), webhook.CauseBodyReserialized, ""},
		"PHP's body":             {body(byPHP), webhook.CauseBodyReserialized, ""},
		"Python's body":          {body(byPython), webhook.CauseBodyReserialized, ""},
		"sorted keys":            {body(sortedByGo), webhook.CauseBodyReserialized, ""},
		"a pretty body":          {body(pretty), webhook.CauseBodyReserialized, ""},
		"an empty object":        {body("{}"), webhook.CauseBodyReserialized, ""},
		"Node's body and a line": {body(byNode + "\n"), webhook.CauseBodyChanged, ""},
		"an empty body":          {body(""), webhook.CauseBodyChanged, ""},
		"[object Object]":        {body("[object Object]"), webhook.CauseBodyChanged, ""},
		"another character set":  {body(inLatin1), webhook.CauseBodyChanged, ""},
		"a body with a line end": {body(sentBody + "\n"), webhook.CauseBodyChanged, ""},
		"a JSON string": {body(`"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(sentBody) + `"`),
			webhook.CauseBodyChanged, ""},
		"an old secret":     {by("svc_whsec_OLD", message), webhook.CauseSignatureMismatch, "known mistakes"},
		"another hash":      {"sha256=ff", webhook.CauseSignatureMismatch, "computed is no SHA-256"},
		"Standard Webhooks": {" v1," + in64, webhook.CauseSignatureMismatch, "Standard Webhooks"},
	} {
		got := explained("", "", "", c.computed)
		require.Equal(t, c.want, got.Cause, "%s: %s", name, got.Words)
		require.Contains(t, got.Words, c.words, name)
		require.Equal(t, c.want == webhook.CauseOtherSubscriptionSecret, got.OtherID == id.ID{2}, name)
	}
}

// The bounds keep the work for a body small (mistakes.go).
func TestExplain_WritesABodyAnew_UpToItsBounds(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	long := func(length int) string { return strings.Repeat("a", length-len(`{"a" :""}`)) }
	for name, c := range map[string]struct {
		body, compact string
		want          webhook.SignatureCause
	}{
		"16 levels":   {`{"a" :` + nested(15) + `}`, `{"a":` + nested(15) + `}`, webhook.CauseBodyReserialized},
		"17 levels":   {`{"a" :` + nested(16) + `}`, `{"a":` + nested(16) + `}`, webhook.CauseSignatureMismatch},
		"16 KiB":      {`{"a" :"` + long(16_384) + `"}`, `{"a":"` + long(16_384) + `"}`, webhook.CauseBodyReserialized},
		"a byte more": {`{"a" :"` + long(16_385) + `"}`, `{"a":"` + long(16_385) + `"}`, webhook.CauseSignatureMismatch},
	} {
		require.Equal(t, c.want, explain(c.body, own(sentTimestamp+"."+c.compact)).Cause, name)
	}
}
