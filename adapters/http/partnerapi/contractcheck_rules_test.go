package partnerapi_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

// probe is a testing.TB that only remembers that it failed.
type probe struct {
	testing.TB
	failed bool
}

func (p *probe) Helper()               {}
func (p *probe) Errorf(string, ...any) { p.failed = true }
func (p *probe) FailNow()              { p.failed = true; runtime.Goexit() }
func (p *probe) fails(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
	return p.failed
}

const sampleID = "req_01jb2m4q8e7w9x3c5v6b7n8m9a"

func headers(more ...string) http.Header {
	h := http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {sampleID},
		"Ratelimit": {`"default";r=1;t=1`}, "Ratelimit-Policy": {`"default";q=1;w=60`},
	}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
		if more[i+1] == "" {
			h.Del(more[i])
		}
	}
	return h
}

func errorBody(code string) string {
	return `{"error":{"code":"` + code + `","message":"m","requestId":"` + sampleID + `"}}`
}

const (
	sampleMe = `{"data":{"partnerId":"prt_1","slug":"s","name":"n","environment":"staging","keyId":"key_1",` +
		`"limits":{"requestsPerMinute":1,"writesPerMinute":1}}}`
	sampleWebhook = `{"data":{"id":"pwh_1","url":"https://a.example","events":["deposit.activated"],` +
		`"signatures":["svc"],"enabled":true,"createdAt":"2026-06-02T10:02:51.004Z",` +
		`"health":{"state":"healthy","since":"2026-06-02T10:02:51.004Z","pending":0}}}`
	sampleLinked = `{"event":"rental_operator.linked","createdAt":"2026-06-02T09:14:27.318Z","data":{"partnerId":"p",` +
		`"accountId":"a","externalId":"e","linkedAt":"2026-06-02T09:14:27.318Z"}}`
	sampleEvent = `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"d",` +
		`"reference":"r","rentalContract":"","status":"active","previousStatus":"pending","amountCents":7000,` +
		`"contractStartAt":"2026-08-01T15:00:00.000Z","contractEndAt":"2026-08-08T10:00:00.000Z","client":null}}`
	emptyList = `{"data":[],"pagination":{"nextCursor":null,"hasMore":false}}`
)

// The judge of every answer in these tests could fail: a contract that finds nothing proves nothing.
func TestCheck_TellsPromisedExchangesFromOthers(t *testing.T) {
	t.Parallel()
	changed := func(sample, old, revised string) string {
		require.Contains(t, sample, old)
		return strings.Replace(sample, old, revised, 1)
	}
	created := changed(sampleWebhook, `"enabled"`, `"secret":"svc_whsec_x","enabled"`)
	cases := []struct {
		name, method, path, sent string
		status                   int
		header                   http.Header
		body                     string
		ok                       bool
	}{
		{"success", "GET", "/me", "", 200, headers(), sampleMe, true},
		{"a query", "GET", "/accounts?limit=1", "", 200, headers(), emptyList, true},
		{"no content", "DELETE", "/webhooks/pwh_1", "", 204, headers("Content-Type", ""), ``, true},
		{"documented error", "GET", "/deposits/dep_1", "", 403, headers(), errorBody("deposit_access_denied"), true},
		{"rate limited", "GET", "/me", "", 429, headers("Retry-After", "3"), errorBody("rate_limited"), true},
		{"no such route", "GET", "/nothing", "", 404, headers(), errorBody("route_not_found"), true},
		{"no such method", "PUT", "/me", "", 405, headers(), errorBody("method_not_allowed"), true},
		{"time with milliseconds", "GET", "/webhooks/pwh_1", "", 200, headers(), sampleWebhook, true},
		{"documented request", "POST", "/webhooks", `{"url":"https://a.example"}`, 201, headers(), created, true},
		{"a bad request, refused", "POST", "/webhooks", `{}`, 400, headers(), errorBody("missing_field"), true},

		{"undocumented field", "GET", "/me", "", 200, headers(), changed(sampleMe, `}}}`, `},"extra":1}}`), false},
		{"undocumented nested field", "GET", "/me", "", 200, headers(), changed(sampleMe, `}}}`, `,"extra":1}}}`), false},
		{"missing field", "GET", "/me", "", 200, headers(), `{"data":{}}`, false},
		{"no data", "GET", "/me", "", 200, headers(), `{}`, false},
		{"no body", "GET", "/me", "", 200, headers(), ``, false},
		{"other status", "GET", "/me", "", 202, headers(), sampleMe, false},
		{"no request id", "GET", "/me", "", 200, headers("X-Request-Id", ""), sampleMe, false},
		{"no rate limit", "GET", "/me", "", 200, headers("RateLimit", ""), sampleMe, false},
		{"strange request id", "GET", "/me", "", 200, headers("X-Request-Id", "1"), sampleMe, false},
		{"time without milliseconds", "GET", "/webhooks/pwh_1", "", 200, headers(), changed(sampleWebhook, ".004Z", "Z"),
			false},
		{"unknown event", "GET", "/webhooks/pwh_1", "", 200, headers(), changed(sampleWebhook, "activated", "refused"),
			false},
		{"undocumented code", "GET", "/deposits/dep_1", "", 403, headers(), errorBody("account_not_linked"), false},
		{"unknown code", "GET", "/nothing", "", 404, headers(), errorBody("oops"), false},
		{"another request's id", "GET", "/deposits/dep_1", "", 403,
			headers("X-Request-Id", "req_01jb2m4q8e7w9x3c5v6b7n8m9b"), errorBody("deposit_access_denied"), false},
		{"rate limited without Retry-After", "GET", "/me", "", 429, headers(), errorBody("rate_limited"), false},
		{"error in plain text", "GET", "/nothing", "", 404, headers("Content-Type", "text/plain"), "Not Found", false},
		{"a required field is missing, and accepted", "POST", "/webhooks", `{}`, 201, headers(), created, false},
		{"an unknown event, and accepted", "POST", "/webhooks", `{"url":"https://a.example","events":["x"]}`, 201,
			headers(), created, false},
		{"a limit beyond the bound, and accepted", "GET", "/accounts?limit=1000", "", 200, headers(), emptyList, false},
		{"an unknown field, and accepted", "POST", "/webhooks", `{"url":"https://a.example","new":1}`, 201, headers(),
			created, false},
		{"an unknown parameter, and accepted", "GET", "/accounts?new=1", "", 200, headers(), emptyList, false},
		{"an empty filter, and accepted", "GET", "/accounts?externalId=", "", 200, headers(), emptyList, false},
		{"a body where none belongs, and accepted", "GET", "/me", `{"new":1}`, 200, headers(), sampleMe, false},
		{"an empty object where no body belongs", "GET", "/me", `{}`, 200, headers(), sampleMe, true},
	}
	for _, c := range cases {
		p := &probe{TB: t}
		failed := p.fails(func() {
			req, err := http.NewRequestWithContext(t.Context(), c.method, "http://127.0.0.1:1"+partnerapi.PathPrefix+c.path,
				strings.NewReader(c.sent))
			require.NoError(t, err)
			req.Header = http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"svc_pk_test_x"}}
			newContract(t).Check(p, req, []byte(c.sent), c.status, c.header, []byte(c.body))
		})
		require.Equal(t, c.ok, !failed, c.name)
	}
	for body, ok := range map[string]bool{sampleEvent: true, sampleLinked: true,
		changed(sampleLinked, `}}`, `,"more":1}}`): false, changed(sampleEvent, `.512Z`, `Z`): false} {
		p := &probe{TB: t}
		require.Equal(t, ok, !p.fails(func() { newContract(t).CheckWebhook(p, []byte(body)) }), body)
	}
}
