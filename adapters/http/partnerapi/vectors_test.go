package partnerapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/app/accounts/connections"
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
	kinds := map[string]func(vector) object{"unwrap": unwrapped, "connectUrl": connectURL,
		"standardSecret": standardSecret}
	perform, known := kinds[v.Kind]
	switch {
	case v.Kind == "call":
		return r.mistakeOfCall(v)
	case v.Kind == "verifyReturn" || v.Kind == "isNewer" || known && v.Want["refused"] == true:
		return "" // a matter of the libraries alone
	case !known:
		return "the kind " + v.Kind + " is not known"
	}
	if got := perform(v); !within(v.Want, normal(got)) {
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

func unwrapped(v vector) object {
	in := into[struct {
		Body       string
		BodyBase64 *string
		Headers    map[string]any
		Secret     secret.Text
		Now        int64
		Tolerance  *int64
	}](v.Input)
	body := []byte(in.Body)
	if in.BodyBase64 != nil {
		body, _ = base64.StdEncoding.DecodeString(*in.BodyBase64)
	}
	headers := webhook.ReceivedHeaders{}
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
	tolerance := webhook.TimestampTolerance
	if in.Tolerance != nil {
		tolerance = time.Duration(*in.Tolerance) * time.Second
	}
	found := webhook.DiagnoseSignature(headers, body, in.Secret, tolerance, time.Unix(in.Now, 0))
	if found.Reason != "" {
		return refusal(found.Reason, found.Hint)
	}
	return object{"value": normal(json.RawMessage(body))}
}

// connectURL reads the URL that a library must build, as the pages do.
func connectURL(v vector) object {
	in := into[struct {
		Slug, ExternalID, Email, Name, ReturnURL string
		Secret                                   secret.Text
	}](v.Input)
	built, _ := v.Want["value"].(string)
	_, query, _ := strings.Cut(built, "?")
	read, prefill, _ := connections.ParseConnectQuery(query)
	seconds, _ := strconv.ParseInt(read.TS, 10, 64)
	if read.Verify(in.Secret, time.Unix(seconds, 0)) != nil || read.Partner != in.Slug ||
		read.ExternalID != in.ExternalID || read.ReturnURL != in.ReturnURL ||
		prefill != (connections.SignUpPrefill{Email: in.Email, Name: in.Name}) {
		return object{"value": "refused by the pages"}
	}
	return object{"value": built}
}

// standardSecret gives a secret in the form that the library of Standard Webhooks reads.
func standardSecret(v vector) object {
	key := into[struct{ Secret secret.Text }](v.Input).Secret
	now, body := strconv.FormatInt(time.Now().Unix(), 10), []byte("{}")
	library, err := standardwebhooks.NewWebhook(webhook.StandardWebhooksSecret(key))
	if err == nil {
		err = library.Verify(body, http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {now},
			"Webhook-Signature": {webhook.SignStandardWebhooks(key, "evt_1", now, body)}})
	}
	if err != nil {
		return object{"value": err.Error()}
	}
	return object{"value": webhook.StandardWebhooksSecret(key)}
}

// call is a case of a call: the answers that the service is said to give, and the requests that a library makes. The
// libraries prove the waits and the number of requests.
type call struct {
	Args    []any
	Answers []struct {
		Status int
		Body   any
	}
}

// mistakeOfCall checks what a case says of the service: its answers, and how it reads the amount of a request.
func (r vectorRunner) mistakeOfCall(v vector) string {
	in := into[call](v.Input)
	for _, a := range in.Answers {
		if mistake := r.mistakeOfAnswer(a.Status, a.Body); mistake != "" {
			return mistake
		}
	}
	requests, _ := v.Want["requests"].([]any)
	for _, q := range requests {
		if mistake := mistakeOfAmount(in, q.(object)["amount"]); mistake != "" {
			return mistake
		}
	}
	return ""
}

func codeOf(body any) string {
	envelope, _ := body.(object)
	e, _ := envelope["error"].(object)
	code, _ := e["code"].(string)
	return code
}

// mistakeOfAnswer compares an error that claims to be ours with the document: its form, and its status.
func (r vectorRunner) mistakeOfAnswer(status int, body any) string {
	code := codeOf(body)
	if !slices.Contains(r.doc.Components.Schemas["ErrorCode"].Value.Enum, any(code)) {
		return ""
	}
	if e := body.(object)["error"].(object); e["message"] == nil || e["requestId"] == nil {
		return "" // what a library makes of a broken envelope
	}
	if err := r.doc.Components.Schemas["Error"].Value.VisitJSON(body); err != nil {
		return err.Error()
	}
	if statuses := r.statuses()[code]; !slices.Contains(statuses, status) {
		return fmt.Sprintf("%s has the status %d, not one of %v", code, status, statuses)
	}
	return ""
}

// statuses gives the documented statuses of each code.
func (r vectorRunner) statuses() map[string][]int {
	all := map[string][]int{"route_not_found": {404}, "method_not_allowed": {405}, "payload_too_large": {413},
		"unsupported_media_type": {415}}
	for _, item := range r.doc.Paths.Map() {
		for _, op := range item.Operations() {
			for text, response := range op.Responses.Map() {
				status, err := strconv.Atoi(text)
				if err != nil { // default
					continue
				}
				for _, code := range codes(response.Value) {
					all[code] = append(all[code], status)
				}
			}
		}
	}
	return all
}

// amountOf gives the amount that a partner passes, as text.
func amountOf(in call) (string, bool) {
	for _, arg := range in.Args {
		if params, ok := arg.(object); ok && params["amount"] != nil {
			return fmt.Sprint(params["amount"]), true
		}
	}
	return "", false
}

// mistakeOfAmount reads the amount of a request with the reader of the service.
func mistakeOfAmount(in call, token any) string {
	if token == nil {
		return ""
	}
	passed, _ := amountOf(in)
	object, err := jsonbody.ParseObject([]byte(`{"amount":` + token.(string) + `}`))
	if err != nil {
		return err.Error()
	}
	var euros partnerapi.Euros
	if err := json.Unmarshal([]byte(fmt.Sprint(object["amount"])), &euros); err != nil {
		return err.Error()
	}
	whole, cents, _ := strings.Cut(passed, ".")
	want, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
	if got, e := euros.Cents(); err != nil || e != nil || int64(got) != want {
		return fmt.Sprintf("%s is read as %v cents, not as %d", token, got, want)
	}
	return ""
}

func newVectorRunner(t testing.TB) vectorRunner {
	t.Helper()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	return vectorRunner{doc}
}

// A runner that finds nothing proves nothing: a case of each kind with another outcome does not hold.
func TestVectors_ThatAreChanged_DoNotHold(t *testing.T) {
	t.Parallel()
	r, changed := newVectorRunner(t), map[string]int{}
	for _, v := range vectors(t) {
		other := v
		other.Want = normal(v.Want).(object)
		requests, _ := other.Want["requests"].([]any)
		switch e, _ := other.Want["error"].(object); {
		case v.Kind == "call" && len(requests) > 0 && requests[0].(object)["amount"] != nil:
			requests[0].(object)["amount"] = "12345.67"
		case slices.Contains([]string{"call", "verifyReturn", "isNewer"}, v.Kind) || v.Want["refused"] == true:
			continue
		case e != nil && e["hint"] != nil:
			e["hint"] = "another"
		default:
			other.Want["value"] = "another"
		}
		changed[v.Kind]++
		require.NotEmpty(t, r.mistakeOf(other), "%s: %v", v.Name, other.Want)
	}
	require.Len(t, changed, 4, "every kind that the service knows")

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
		require.Empty(t, r.mistakeOf(v), "%s/%s", v.Kind, v.Name)
	}
}
