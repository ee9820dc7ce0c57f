package sdk_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/formbrowser"
)

// hook is a partner's server: its endpoint of webhooks, and the page to which operators come back.
type hook struct {
	url, back string
	mu        sync.Mutex
	took      []delivery
}

// delivery is a webhook as it was received.
type delivery struct {
	headers http.Header
	body    string
}

func newHook(t testing.TB) *hook {
	t.Helper()
	h := &hook{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.took = append(h.took, delivery{r.Header.Clone(), string(body)})
	}))
	t.Cleanup(server.Close)
	h.url = server.URL + "/hooks/deposits"
	h.back = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/back?booking=1"
	return h
}

// await gives the first delivery of an event whose body has a text.
func (h *hook) await(t testing.TB, event, text string) (found delivery) {
	t.Helper()
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, d := range h.took {
			if d.headers.Get("X-Svc-Event") == event && strings.Contains(d.body, text) {
				found = d
				return true
			}
		}
		return false
	}, soon, often, "%s with %s", event, text)
	return found
}

// asCase is the case in which a library unwraps a delivery.
func (d delivery) asCase(secret string) map[string]any {
	return map[string]any{"body": d.body, "headers": d.headers, "secret": secret}
}

// signUp opens a connect URL as an operator does, signs up, and gives the address to which the operator is sent back.
func signUp(t testing.TB, connectURL, back, email string) string {
	t.Helper()
	b := formbrowser.New(soon, formbrowser.StubSiteTransport{RoundTripper: http.DefaultTransport, Origin: back})
	page, err := b.Get(t.Context(), connectURL)
	require.NoError(t, err)
	end, err := b.Submit(t.Context(), page, "companyName",
		map[string]string{"email": email, "password": "correct-horse", "companyName": "Villa " + email})
	require.NoError(t, err)
	require.Contains(t, end.URL.RawQuery, "connectStatus=")
	return end.URL.String()
}
