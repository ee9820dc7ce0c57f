package e2e_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHTTP_ServesFilesAndPages: addresses of the settings are public. Files and lists are compressed, and a form, which
// holds a CSRF token beside the query of the page, is not.
func TestHTTP_ServesFilesAndPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "EGRESS_ADDRESSES=203.0.113.128/25,2001:db8::7,203.0.113.7,203.0.113.7")
	h := w.http(t)
	client := &http.Client{Timeout: soon, Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	get := func(path string) (encoding, body string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.baseURL+path, nil)
		require.NoError(t, err)
		request.Header = http.Header{"X-Api-Key": {w.apiKey}, "Accept-Encoding": {"gzip, deflate, br"}}
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
		plain := io.Reader(response.Body)
		if encoding = response.Header.Get("Content-Encoding"); encoding == "gzip" {
			plain, err = gzip.NewReader(response.Body)
			require.NoError(t, err)
		}
		text, err := io.ReadAll(plain)
		require.NoError(t, err)
		return encoding, string(text)
	}
	for i := range 12 {
		w.api(t).post("/webhooks", map[string]any{"url": fmt.Sprintf("http://127.0.0.1:9/a-rather-long-path-of-a-receiver/%d", i)},
			nil)
	}
	encoding, form := get("/register?email=guess@example.com")
	require.Empty(t, encoding)
	require.Contains(t, form, `name="csrf_token"`)
	require.Contains(t, form, "guess@example.com")
	for _, path := range []string{regexp.MustCompile(`/assets/app-[0-9a-f]+\.css`).FindString(form), "/openapi.json",
		"/docs", "/api/partner/v1/webhooks"} {
		encoding, body := get(path)
		require.Equal(t, "gzip", encoding, path)
		require.Greater(t, len(body), 2<<10, path)
	}
	encoding, _ = get("/api/partner/v1/me")
	require.Empty(t, encoding, "a small answer costs less as it is")

	response, err := plain.Post(w.baseURL+"/webhooks/payments/stripe", "application/json", http.NoBody)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNotFound, response.StatusCode, "the sandbox provider sends no notices")
	status, body := fetch(w.baseURL + "/egress.json")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"addresses": ["203.0.113.7/32", "203.0.113.128/25", "2001:db8::7/128"]}`, body)
	require.EqualValues(t, 1,
		h.metric(`svc_http_requests_total{code="200",method="GET",route="/egress.json",surface="docs"}`))
}
