package connect_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/lab/connecttest"
)

// fuzzedPage opens both connect pages with a raw query: no panic and no 5xx. The result is the code of the sign-up
// page.
func fuzzedPage(t *testing.T, s *connecttest.Server, query string) (status int, page string) {
	t.Helper()
	for _, path := range []string{"/login?", "/register?"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		require.NoError(t, err)
		request.URL.RawQuery = query
		response, err := http.DefaultTransport.RoundTrip(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Less(t, response.StatusCode, http.StatusInternalServerError, "%s", body)
		status, page = response.StatusCode, string(body)
	}
	return status, page
}

// sendable tells whether a raw query fits a request line.
func sendable(query string) bool {
	for _, c := range []byte(query) {
		if c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return len(query) < 8_000
}

// FuzzConnectQuery opens the connect pages with any query. Without the secret nobody gets past the signature.
func FuzzConnectQuery(f *testing.F) {
	s := connecttest.New(f, connecttest.Options{})
	s.CreatePartner("demo")
	f.Add("partner=demo&external_id=op-1&ts=1780391667&sig=" + strings.Repeat("0", 64))
	f.Add("partner=nobody&external_id=%00&ts=-1&sig=")
	f.Add("partner=demo&partner=demo&external_id=a&ts=99999999999999999999&sig=" + strings.Repeat("f", 64) +
		"&return_url=https%3A%2F%2Fx.example")
	f.Add("email=%ff&name=%C2%80")
	f.Fuzz(func(t *testing.T, query string) {
		if !sendable(query) {
			return
		}
		status, page := fuzzedPage(t, s, query)
		values, _ := url.ParseQuery(query)
		if values.Has("partner") && values.Has("sig") && status == http.StatusOK {
			require.Contains(t, page, "<form")
			require.NotContains(t, page, "Partner demo", "a page that trusts an unsigned query")
		}
	})
}

// FuzzSignedQuery opens the connect pages with queries that the partner has signed.
func FuzzSignedQuery(f *testing.F) {
	s := connecttest.New(f, connecttest.Options{})
	s.CreatePartner("demo")
	now := unix(s.Clock.Now())
	f.Add("op-1", now, "email=a%40b.example&name=Chalets")
	f.Add("op.1/ü &=%", now, "return_url=https%3A%2F%2Fx.example%2F%3Fa%3D1")
	f.Add(strings.Repeat("x", 256), now, "")
	f.Add("\x00", "0", "external_id=second")
	f.Add("op-1", "9999999999999999999", "ts=1")
	f.Fuzz(func(t *testing.T, externalID, ts, more string) {
		query := "partner=demo&external_id=" + url.QueryEscape(externalID) + "&ts=" + url.QueryEscape(ts) + "&sig=" +
			connect.SignURL(key, "demo", externalID, ts)
		if more != "" {
			query += "&" + more
		}
		if !sendable(query) {
			return
		}
		status, page := fuzzedPage(t, s, query)
		// 404: a second partner
		require.Contains(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusGone}, status, page)
	})
}
