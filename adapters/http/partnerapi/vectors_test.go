package partnerapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// vector is a case of sdk/vectors: what the libraries for partners must do, and the service with them.
type vector struct {
	Name, Kind string
	Input      json.RawMessage
	Want       object
}

// vectors reads all cases.
func vectors(t testing.TB) (all []vector) {
	t.Helper()
	files, err := filepath.Glob("../../../sdk/vectors/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var some []vector
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		require.NoError(t, in.Decode(&some), file)
		all = append(all, some...)
	}
	return all
}

// vectorRunner performs cases by the code of the service.
type vectorRunner struct {
	doc *openapi3.T
}

// mistakeOf performs a case, and tells in what the service differs from it; "" for nothing.
func (r vectorRunner) mistakeOf(v vector) string {
	kinds := map[string]func(json.RawMessage) object{
		"unwrap": unwrapped, "connectUrl": connectURL, "verifyReturn": returned, "standardSecret": standardSecret,
	}
	if v.Kind == "call" {
		return r.mistakeOfCall(v)
	}
	perform, known := kinds[v.Kind]
	if !known {
		return "the kind " + v.Kind + " is not known"
	}
	got := perform(v.Input)
	if !within(v.Want, normal(got)) {
		return fmt.Sprintf("want %v, got %v", v.Want, got)
	}
	return ""
}

// normal gives a value as JSON has it.
func normal(v any) (out any) {
	text, _ := json.Marshal(v)
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	_ = in.Decode(&out)
	return out
}

// within reports whether want is a part of got. null equals absent.
func within(want, got any) bool {
	switch w := want.(type) {
	case object:
		g, ok := got.(object)
		for name, value := range w {
			ok = ok && within(value, g[name])
		}
		return ok
	case []any:
		g, ok := got.([]any)
		ok = ok && len(g) == len(w)
		for i := 0; ok && i < len(w); i++ {
			ok = within(w[i], g[i])
		}
		return ok
	case json.Number:
		a, _ := w.Float64()
		g, ok := got.(json.Number)
		b, err := g.Float64()
		return ok && err == nil && a == b
	case nil:
		return got == nil || got == ""
	}
	return want == got
}

func into[T any](raw json.RawMessage) (in T) {
	if err := json.Unmarshal(raw, &in); err != nil {
		panic(err) // a case that cannot be read fails the test
	}
	return in
}

func refusal(reason, hint any) object { return object{"error": object{"reason": reason, "hint": hint}} }

func unwrapped(raw json.RawMessage) object {
	in := into[struct {
		Body       string
		BodyBase64 *string
		Headers    map[string]any
		Secret     secret.Text
		Now        int64
		Tolerance  *int64
	}](raw)
	body := []byte(in.Body)
	if in.BodyBase64 != nil {
		body, _ = base64.StdEncoding.DecodeString(*in.BodyBase64)
	}
	headers := webhook.Headers{}
	for name, value := range in.Headers {
		switch v := value.(type) {
		case string:
			headers[name] = []string{v}
		case []any:
			for _, one := range v {
				headers[name] = append(headers[name], fmt.Sprint(one))
			}
		}
	}
	tolerance := webhook.Tolerance
	if in.Tolerance != nil {
		tolerance = time.Duration(*in.Tolerance) * time.Second
	}
	found := webhook.Diagnose(headers, body, in.Secret, tolerance, time.Unix(in.Now, 0))
	if found.Reason != "" {
		return refusal(found.Reason, found.Hint)
	}
	return object{"value": normal(json.RawMessage(body))}
}

var (
	refused       = object{"refused": true}
	lastingDigits = regexp.MustCompile(`^[0-9]{1,10}$`)
)

// connectURL builds a connect URL as api.md §4 has it, and reads it again as the pages do.
func connectURL(raw json.RawMessage) object {
	in := into[struct {
		Base, Slug, ExternalID, Email, Name, ReturnURL, Page string
		Secret                                               secret.Text
		TS                                                   any
	}](raw)
	ts, _ := in.TS.(string)
	if n, ok := in.TS.(float64); ok {
		ts = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if !strings.HasPrefix(in.Secret.Reveal(), partner.ConnectSecretPrefix) || !partner.ValidSlug(in.Slug) ||
		in.ExternalID == "" || len(in.ExternalID) > connect.MaxExternalID || !lastingDigits.MatchString(ts) ||
		!slices.Contains([]string{"", "register", "login"}, in.Page) {
		return refused
	}
	page := "register"
	if in.Page != "" {
		page = in.Page
	}
	query := ""
	for _, p := range [][2]string{{"partner", in.Slug}, {"external_id", in.ExternalID}, {"ts", ts},
		{"sig", connect.Sign(in.Secret, in.Slug, in.ExternalID, ts)}, {"email", in.Email}, {"name", in.Name},
		{"return_url", in.ReturnURL}} {
		if p[1] != "" {
			query += "&" + p[0] + "=" + strings.ReplaceAll(url.QueryEscape(p[1]), "+", "%20")
		}
	}
	query = query[1:]
	read, prefill, _ := connections.Query(query)
	seconds, _ := strconv.ParseInt(ts, 10, 64)
	if read.Verify(in.Secret, time.Unix(seconds, 0)) != nil || read.ExternalID != in.ExternalID ||
		prefill != (connections.Prefill{Email: in.Email, Name: in.Name}) || read.ReturnURL != in.ReturnURL {
		return object{"value": "refused by the pages"}
	}
	return object{"value": strings.TrimRight(in.Base, "/") + "/" + page + "?" + query}
}

// returned verifies a return URL, with the signature of the service.
func returned(raw json.RawMessage) object {
	in := into[struct {
		URL            string
		Secret         secret.Text
		Now, Tolerance *int64
	}](raw)
	whole, _, _ := strings.Cut(in.URL, "#")
	_, query, _ := strings.Cut(whole, "?")
	values, _ := url.ParseQuery(query)
	names := []string{"connectStatus", "accountId", "externalId", "returnTs", "returnSig"}
	for _, name := range names {
		if len(values[name]) == 0 {
			return refusal("missing_parameter", nil)
		}
	}
	ts := values.Get("returnTs")
	seconds, err := strconv.ParseInt(ts, 10, 64)
	if err != nil || !regexp.MustCompile(`^[0-9]{1,15}$`).MatchString(ts) ||
		!regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(values.Get("returnSig")) ||
		slices.ContainsFunc(names, func(name string) bool { return len(values[name]) > 1 }) {
		return refusal("malformed_parameter", nil)
	}
	status, account, externalID := values.Get("connectStatus"), values.Get("accountId"), values.Get("externalId")
	if in.Secret == "" || connect.ReturnSignature(in.Secret, connect.Outcome(status), account, ts, externalID) != values.Get("returnSig") {
		return refusal("mismatch", nil)
	}
	if in.Tolerance != nil {
		if away := time.Duration(*in.Now-seconds) * time.Second; away.Abs() > time.Duration(*in.Tolerance)*time.Second {
			return refusal("expired", nil)
		}
	}
	return object{"value": object{"status": status, "accountId": account, "externalId": externalID, "ts": seconds,
		"error": values.Get("connectError")}}
}

// standardSecret gives a secret in the form that the library of Standard Webhooks reads.
func standardSecret(raw json.RawMessage) object {
	key := into[struct{ Secret secret.Text }](raw).Secret
	const least, most = 24, 64
	if n := len(key); !strings.HasPrefix(key.Reveal(), webhook.SecretPrefix) || n < least || n > most {
		return refused
	}
	now, body := strconv.FormatInt(time.Now().Unix(), 10), []byte("{}")
	library, err := standardwebhooks.NewWebhook(webhook.StandardSecret(key))
	if err == nil {
		err = library.Verify(body, http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {now},
			"Webhook-Signature": {webhook.SignStandard(key, "evt_1", now, body)}})
	}
	if err != nil {
		return object{"value": err.Error()}
	}
	return object{"value": webhook.StandardSecret(key)}
}

func newVectorRunner(t testing.TB) vectorRunner {
	t.Helper()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	return vectorRunner{doc}
}

// changes gives a case with another outcome, once for each part of it that the service can tell.
func (v vector) changes() (all []vector) {
	with := func(change func(want object)) {
		changed := v
		changed.Want = normal(v.Want).(object)
		change(changed.Want)
		all = append(all, changed)
	}
	if v.Kind != "call" {
		with(func(want object) { want["value"] = "another" })
		with(func(want object) { want["error"] = object{"reason": "another"} })
		if e, refused := v.Want["error"].(object); refused {
			with(func(want object) { want["error"].(object)["hint"] = fmt.Sprint(e["hint"], "x") })
		}
		return all
	}
	if waits, told := v.Want["waits"].([]any); told {
		with(func(want object) { want["waits"] = append(slices.Clone(waits), 1) })
	}
	if requests, told := v.Want["requests"].([]any); told && v.Want["refused"] != true {
		with(func(want object) { want["requests"] = append(slices.Clone(requests), object{}) })
		if first := requests[0].(object); first["amount"] != nil {
			with(func(want object) { want["requests"].([]any)[0].(object)["amount"] = "12345.67" })
		}
	}
	return all
}

func TestVectors_ThatAreChanged_DoNotHold(t *testing.T) {
	t.Parallel()
	r, changed := newVectorRunner(t), map[string]int{}
	for _, v := range vectors(t) {
		for _, other := range v.changes() {
			changed[v.Kind]++
			require.NotEmpty(t, r.mistakeOf(other), "%s: %v", v.Name, other.Want)
		}
	}
	require.Len(t, changed, 5, "every kind")

	answer := func(code string, status int) string {
		return r.mistakeOfAnswer(status, object{"error": object{"code": code, "message": "m",
			"requestId": "req_01jb2m4q8e7w9x3c5v6b7n8m9a"}})
	}
	require.Empty(t, answer("rate_limited", 429))
	require.NotEmpty(t, answer("rate_limited", 503))
}

func TestVectors_HoldInTheServiceToo(t *testing.T) {
	t.Parallel()
	r := newVectorRunner(t)
	for _, v := range vectors(t) {
		t.Run(v.Kind+"/"+v.Name, func(t *testing.T) { require.Empty(t, r.mistakeOf(v)) })
	}
}
