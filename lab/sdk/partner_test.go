package sdk_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
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
func signUp(t testing.TB, connectURL, email string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.Contains(r.URL.RawQuery, "connectStatus=") {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page, err := client.Get(connectURL)
	require.NoError(t, err)
	fields, action := formOf(t, page)
	fields.Set("email", email)
	fields.Set("password", "correct-horse")
	fields.Set("companyName", "Villa "+email)
	target, err := page.Request.URL.Parse(action)
	require.NoError(t, err)
	end, err := client.PostForm(target.String(), fields)
	require.NoError(t, err)
	defer end.Body.Close()
	require.Equal(t, http.StatusSeeOther, end.StatusCode)
	return end.Header.Get("Location")
}

// formOf gives the values and the action of the first form on a page that is posted.
func formOf(t testing.TB, page *http.Response) (url.Values, string) {
	t.Helper()
	defer page.Body.Close()
	content, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, page.StatusCode, string(content))
	root, err := html.Parse(bytes.NewReader(content))
	require.NoError(t, err)
	fields, action, inside := url.Values{}, "", false
	for n := range root.Descendants() {
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		switch {
		case n.Data == "form" && attr["method"] == "post" && !inside:
			action, inside = attr["action"], true
		case n.Data == "input" && attr["name"] != "":
			fields.Set(attr["name"], attr["value"])
		}
	}
	require.True(t, inside, "a form: %s", content)
	return fields, action
}
