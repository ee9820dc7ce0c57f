package partnerapi_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/servicetest"
)

func TestAuthentication_EveryCarrierAndEveryRefusal(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	revoked, plain, err := c.Partners.CreateKey(t.Context(), "acme", "old")
	require.NoError(t, err)
	require.Equal(t, 200, c.get("/me", "x-api-key", plain.Reveal()).status)
	_, err = c.Partners.RevokeKey(t.Context(), "key_"+revoked.ID.Encode())
	require.NoError(t, err)

	const unknown = "svc_pk_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	cases := []struct{ name, apiKey, authorization, code string }{
		{"x-api-key", c.key, "", ""},
		{"bearer", "", "Bearer " + c.key, ""},
		{"bare", "", c.key, ""},
		{"neither", "", "", "missing_api_key"},
		{"unknown", unknown, "", "invalid_api_key"},
		{"unknown as bearer", "", "Bearer " + unknown, "invalid_api_key"},
		{"in other letters", c.key[:len(c.key)-1] + "\xff", "", "invalid_api_key"},
		{"revoked", plain.Reveal(), "", "api_key_revoked"},
		{"revoked as bearer", "", "Bearer " + plain.Reveal(), "api_key_revoked"},
		{"almost the revoked one", plain.Reveal() + "x", "", "invalid_api_key"},
	}
	for _, k := range cases {
		r := c.get("/accounts", "x-api-key", k.apiKey, "authorization", k.authorization)
		if k.code == "" {
			require.Equal(t, 200, r.status, k.name)
			continue
		}
		r.refused(401, k.code)
	}
}

func TestAuthentication_ComesBeforeEverythingElse(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t)
	c.leavesNothing(t, func() {
		c.post("/deposits", `{"broken`, "x-api-key", "").refused(401, "missing_api_key")
		c.get("/nothing", "x-api-key", "").refused(401, "missing_api_key")
		c.post("/deposits", `{"broken`, "x-api-key", "", "content-type", "text/plain").refused(401, "missing_api_key")
	})
	c.get("/nothing").refused(404, "route_not_found")
	c.do(http.MethodPut, "/deposits", object{}).refused(405, "method_not_allowed")
	c.do(http.MethodDelete, "/deposits/dep_1", nil).refused(405, "method_not_allowed")
}

var rateLimit = regexp.MustCompile(`^"(default|writes)";r=(\d+);t=(\d+)$`)

func TestRateLimit_EveryAnswerTells_AndBeyondItIs429(t *testing.T) {
	t.Parallel()
	c, account := newStory(t,
		func(s *servicetest.Setup) { s.Config.RateLimitPerMinute, s.Config.RateLimitWritesPerMinute = 7, 3 })
	told := func(r reply, policy, limit string, remaining int) {
		t.Helper()
		require.Equal(t, `"`+policy+`";q=`+limit+`;w=60`, r.header.Get("RateLimit-Policy"))
		m := rateLimit.FindStringSubmatch(r.header.Get("RateLimit"))
		require.NotNil(t, m, r.header.Get("RateLimit"))
		require.Equal(t, []string{policy, strconv.Itoa(remaining)}, m[1:3])
	}
	limits := c.get("/me")
	told(limits, "default", "7", 6)
	require.Equal(t, object{"requestsPerMinute": 7.0, "writesPerMinute": 3.0}, limits.ok(200)["limits"])
	key := newKey()
	first := c.post("/deposits", draft(account), "idempotency-key", key)
	told(first, "writes", "3", 2)
	replay := c.post("/deposits", draft(account), "idempotency-key", key)
	first.again(replay)
	told(replay, "writes", "3", 1) // a replay counts, and so does a refusal
	told(c.post("/deposits", `{"broken`), "writes", "3", 0)
	c.leavesNothing(t, func() {
		refused := c.post("/deposits", draft(account))
		told(refused, "writes", "3", 0)
		refused.refused(429, "rate_limited")
	})
	require.EqualValues(t, 1, c.limited.Load())
	for left := 2; left >= 0; left-- { // the refused write counted against no limit
		told(c.get("/accounts"), "default", "7", left)
	}
	c.get("/nothing").refused(429, "rate_limited")

	other := c.world.caller(t, "other")
	require.Equal(t, 200, other.get("/me").status, "limits are per partner")
	require.NoError(t, c.Partners.SetRateLimit(t.Context(), "acme", 70))
	require.Equal(t, object{"requestsPerMinute": 70.0, "writesPerMinute": 30.0}, c.get("/me").ok(200)["limits"])
}

// Metrics and log tell which route refuses requests: an alert about a route would not see refusals without it.
func TestRefusal_CarriesItsRoute(t *testing.T) {
	t.Parallel()
	c, _ := newStory(t, func(s *servicetest.Setup) { s.Config.RateLimitPerMinute = 1 })
	for len(c.seen) > 0 {
		<-c.seen
	}
	require.Equal(t, 401, c.get("/deposits/dep_1", "x-api-key", "").status)
	require.Equal(t, 401, c.post("/deposits", object{}, "x-api-key", "").status)
	require.Equal(t, 401, c.get("/nothing", "x-api-key", "").status)
	require.Equal(t, 200, c.get("/me").status)
	require.Equal(t, 429, c.get("/webhooks").status)
	c.Pool.Close()
	require.Equal(t, 503, c.get("/accounts/acct_1").status)
	for _, want := range []middleware.RequestObservation{
		{Method: "GET", Status: 401, Route: partnerapi.PathPrefix + "/deposits/:depositId"},
		{Method: "POST", Status: 401, Route: partnerapi.PathPrefix + "/deposits"},
		{Method: "GET", Status: 401, Route: "unmatched"},
		{Method: "GET", Status: 200, Route: partnerapi.PathPrefix + "/me"},
		{Method: "GET", Status: 429, Route: partnerapi.PathPrefix + "/webhooks"},
		{Method: "GET", Status: 503, Route: partnerapi.PathPrefix + "/accounts/:accountId"},
	} {
		got := <-c.seen
		got.Duration, want.Surface = 0, middleware.SurfaceAPI
		require.Equal(t, want, got)
	}
}
