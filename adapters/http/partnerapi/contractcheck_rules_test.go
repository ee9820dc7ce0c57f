package partnerapi_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	sampleMe      = `{"data":{"partnerId":"prt_1","slug":"s","name":"n","environment":"staging","keyId":"key_1","limits":{"requestsPerMinute":1,"writesPerMinute":1}}}`
	sampleWebhook = `{"data":{"id":"pwh_1","url":"https://a.example","events":["deposit.activated"],"signatures":["svc"],"enabled":true,"createdAt":"2026-06-02T10:02:51.004Z","health":{"state":"healthy","since":"2026-06-02T10:02:51.004Z","pending":0}}}`
)

func TestCheck_TellsPromisedAnswersFromOthers(t *testing.T) {
	cases := []struct {
		name, method, path string
		status             int
		header             http.Header
		body               string
		ok                 bool
	}{
		{"success", "GET", "/me", 200, headers(), sampleMe, true},
		{"absolute target and query", "GET", "/accounts?limit=1", 200, headers(),
			`{"data":[],"pagination":{"nextCursor":null,"hasMore":false}}`, true},
		{"no content", "DELETE", "/webhooks/pwh_1", 204, headers("Content-Type", ""), ``, true},
		{"documented error", "GET", "/deposits/dep_1", 403, headers(), errorBody("deposit_access_denied"), true},
		{"rate limited", "GET", "/me", 429, headers("Retry-After", "3"), errorBody("rate_limited"), true},
		{"no such route", "GET", "/nothing", 404, headers(), errorBody("route_not_found"), true},
		{"no such method", "PUT", "/me", 405, headers(), errorBody("method_not_allowed"), true},

		{"undocumented field", "GET", "/me", 200, headers(), sampleMe[:len(sampleMe)-2] + `,"extra":1}}`, false},
		{"undocumented nested field", "GET", "/me", 200, headers(), sampleMe[:len(sampleMe)-3] + `,"extra":1}}}`, false},
		{"missing field", "GET", "/me", 200, headers(), `{"data":{}}`, false},
		{"no data", "GET", "/me", 200, headers(), `{}`, false},
		{"other status", "GET", "/me", 202, headers(), sampleMe, false},
		{"no request id", "GET", "/me", 200, headers("X-Request-Id", ""), sampleMe, false},
		{"no rate limit", "GET", "/me", 200, headers("RateLimit", ""), sampleMe, false},
		{"strange request id", "GET", "/me", 200, headers("X-Request-Id", "1"), sampleMe, false},
		{"time without milliseconds", "GET", "/webhooks/pwh_1", 200, headers(),
			`{"data":{"id":"pwh_1","url":"https://a.example","events":["deposit.activated"],"signatures":["svc"],"enabled":true,"createdAt":"2026-06-02T10:02:51Z","health":{"state":"healthy","since":"2026-06-02T10:02:51.004Z","pending":0}}}`,
			false},
		{"time with milliseconds", "GET", "/webhooks/pwh_1", 200, headers(), sampleWebhook, true},
		{"unknown event", "GET", "/webhooks/pwh_1", 200, headers(),
			`{"data":{"id":"pwh_1","url":"https://a.example","events":["deposit.refused"],"signatures":["svc"],"enabled":true,"createdAt":"2026-06-02T10:02:51.004Z","health":{"state":"healthy","since":"2026-06-02T10:02:51.004Z","pending":0}}}`,
			false},
		{"undocumented code", "GET", "/deposits/dep_1", 403, headers(), errorBody("account_not_linked"), false},
		{"unknown code", "GET", "/nothing", 404, headers(), errorBody("oops"), false},
		{"another request's id", "GET", "/deposits/dep_1", 403, headers("X-Request-Id", "req_01jb2m4q8e7w9x3c5v6b7n8m9b"),
			errorBody("deposit_access_denied"), false},
		{"rate limited without Retry-After", "GET", "/me", 429, headers(), errorBody("rate_limited"), false},
		{"error in plain text", "GET", "/nothing", 404, headers("Content-Type", "text/plain"), "Not Found", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			contract := newContract(t)
			p := &probe{TB: t}
			failed := p.fails(func() {
				contract.Check(p, c.method, "http://127.0.0.1:1/api/partner/v1"+c.path, c.status, c.header, []byte(c.body))
			})
			require.Equal(t, c.ok, !failed)
		})
	}
}

// answering answers every request alike.
type answering struct {
	status int
	body   string
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: headers(), Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// kin-openapi sees responses only here; libopenapi-validator sees requests, too.
func TestTransport_TellsPromisedRequestsFromOthers(t *testing.T) {
	created := sampleWebhook[:len(sampleWebhook)-2] + `,"secret":"svc_whsec_x"}}`
	cases := []struct {
		name, method, path, sent string
		answer                   answering
		ok                       bool
	}{
		{"documented", "POST", "/webhooks", `{"url":"https://a.example"}`, answering{201, created}, true},
		{"a required field is missing, and the service accepts", "POST", "/webhooks", `{}`, answering{201, created}, false},
		{"an unknown event, and the service accepts", "POST", "/webhooks", `{"url":"https://a.example","events":["x"]}`,
			answering{201, created}, false},
		{"a limit beyond the bound, and the service accepts", "GET", "/accounts?limit=1000", "",
			answering{200, `{"data":[],"pagination":{"nextCursor":null,"hasMore":false}}`}, false},
		{"a required field is missing, and the service refuses", "POST", "/webhooks", `{}`,
			answering{400, errorBody("missing_field")}, true},
		{"no such route", "GET", "/nothing", "", answering{404, errorBody("route_not_found")}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := &probe{TB: t}
			failed := p.fails(func() {
				req, err := http.NewRequestWithContext(t.Context(), c.method, "http://127.0.0.1:1/api/partner/v1"+c.path,
					strings.NewReader(c.sent))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("x-api-key", "svc_pk_test_x")
				res, err := newContract(t).Transport(p, c.answer).RoundTrip(req)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
			})
			require.Equal(t, c.ok, !failed)
		})
	}
}

func TestUnseen_ShrinksAsAnswersPass(t *testing.T) {
	contract := newContract(t)
	require.Contains(t, contract.Unseen(), "getMe 200")
	require.Contains(t, contract.Unseen(), "deleteWebhook 204")
	contract.Check(t, "GET", "/api/partner/v1/me", 200, headers(), []byte(sampleMe))
	require.NotContains(t, contract.Unseen(), "getMe 200")
}

func TestCheckWebhook(t *testing.T) {
	contract := newContract(t)
	contract.CheckWebhook(t,
		[]byte(
			`{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"d","reference":"r","rentalContract":"","status":"active","previousStatus":"pending","amountCents":7000,"contractStartAt":"2026-08-01T15:00:00.000Z","contractEndAt":"2026-08-08T10:00:00.000Z","client":null}}`))
	linked :=
		`{"event":"rental_operator.linked","createdAt":"2026-06-02T09:14:27.318Z","data":{"partnerId":"p","accountId":"a","externalId":"e","linkedAt":"2026-06-02T09:14:27.318Z"}}`
	contract.CheckWebhook(t, []byte(linked))
	p := &probe{TB: t}
	require.True(t, p.fails(func() { contract.CheckWebhook(p, []byte(linked[:len(linked)-2]+`,"more":1}}`)) }))
}

func TestCodes_AreThoseOfTheRelease(t *testing.T) {
	codes := newContract(t).Codes()
	require.Contains(t, codes, "amount_below_minimum")
	require.Contains(t, codes, "service_unavailable")
}
