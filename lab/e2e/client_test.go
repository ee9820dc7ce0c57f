package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// apiClient is a partner's server.
type apiClient struct {
	t      testing.TB
	base   string
	header http.Header
}

func (w *deployment) api(t testing.TB) *apiClient {
	return &apiClient{t: t, base: w.baseURL + "/api/partner/v1",
		header: http.Header{"X-Api-Key": {w.apiKey}, "Content-Type": {"application/json"}}}
}

func (c *apiClient) with(name, value string) *apiClient {
	c.header.Set(name, value)
	return c
}

func (c *apiClient) get(path string, into any) { c.t.Helper(); c.must(http.MethodGet, path, nil, into) }

func (c *apiClient) post(path string, body, into any) {
	c.t.Helper()
	c.must(http.MethodPost, path, body, into)
}

// must sends a request that has to succeed.
func (c *apiClient) must(method, path string, body, into any) {
	c.t.Helper()
	status, raw, err := c.do(method, path, body)
	require.NoError(c.t, err)
	require.Less(c.t, status, 300, "%s %s: %s", method, path, raw)
	if into != nil {
		require.NoError(c.t, json.Unmarshal(raw, into), string(raw))
	}
}

// do sends a request and gives the response.
func (c *apiClient) do(method, path string, body any) (status int, raw []byte, err error) {
	payload := []byte{}
	if body != nil {
		if payload, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	request, err := http.NewRequest(method, c.base+path, bytes.NewReader(payload))
	if err != nil {
		return 0, nil, err
	}
	request.Header = c.header.Clone()
	response, err := plain.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	raw, err = io.ReadAll(response.Body)
	return response.StatusCode, raw, err
}

// browser is a person's browser: cookies and redirects work, but requests never leave this machine.
type browser struct {
	t      testing.TB
	client *http.Client
}

func newBrowser(t testing.TB) *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &browser{t: t, client: &http.Client{
		Jar: jar, Timeout: soon,
		CheckRedirect: func(next *http.Request, _ []*http.Request) error {
			if next.URL.Hostname() != "127.0.0.1" {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// page is a loaded page.
type page struct {
	url    *url.URL // last URL of the redirects, possibly outside this machine
	status int
	body   string
}

func (b *browser) open(address string) page {
	b.t.Helper()
	response, err := b.client.Get(address)
	require.NoError(b.t, err)
	return b.read(response)
}

func (b *browser) read(response *http.Response) page {
	b.t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	p := page{url: response.Request.URL, status: response.StatusCode, body: string(body)}
	if location := response.Header.Get("Location"); location != "" {
		p.url, err = response.Request.URL.Parse(location)
		require.NoError(b.t, err)
	}
	return p
}

// submit fills in the form of the page that has all given fields, adds the hidden fields, and sends the form.
func (b *browser) submit(p page, fields url.Values) page {
	b.t.Helper()
	require.Equal(b.t, http.StatusOK, p.status, p.body)
	form := p.form(b.t, fields)
	for name, values := range fields {
		form.values[name] = values
	}
	target, err := p.url.Parse(form.action)
	require.NoError(b.t, err)
	response, err := b.client.PostForm(target.String(), form.values)
	require.NoError(b.t, err)
	return b.read(response)
}

type form struct {
	action string
	fields map[string]bool
	values url.Values // of hidden fields
}

func (p page) form(t testing.TB, fields url.Values) form {
	t.Helper()
	document, err := html.Parse(strings.NewReader(p.body))
	require.NoError(t, err)
search:
	for node := range document.Descendants() {
		if node.Type != html.ElementNode || node.Data != "form" {
			continue
		}
		f := form{action: attribute(node, "action"), fields: map[string]bool{}, values: url.Values{}}
		for input := range node.Descendants() {
			if input.Type == html.ElementNode && input.Data == "input" {
				f.fields[attribute(input, "name")] = true
				if attribute(input, "type") == "hidden" {
					f.values.Set(attribute(input, "name"), attribute(input, "value"))
				}
			}
		}
		for name := range fields {
			if !f.fields[name] {
				continue search
			}
		}
		return f
	}
	require.FailNow(t, "the page has no form with these fields", "%v\n%s", fields, p.body)
	return form{}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
