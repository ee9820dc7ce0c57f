package connecttest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/formbrowser"
)

// Browser is a test's HTTP client with cookies, which follows no redirects.
type Browser struct {
	// The client's IP address, as a trusted proxy forwards it; "": that of the connection.
	From   string
	t      testing.TB
	base   string
	client *http.Client
}

func (s *Server) NewBrowser(t testing.TB) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &Browser{t: t, base: s.URL, client: &http.Client{
		Jar: jar, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type Answer struct {
	Status   int
	Header   http.Header
	Location string
	Body     string
	Cookies  []*http.Cookie
	Root     *html.Node
}

// Cookies returns the cookies that the browser would send to a URL.
func (b *Browser) Cookies(at string) []*http.Cookie {
	b.t.Helper()
	u, err := url.Parse(at)
	require.NoError(b.t, err)
	return b.client.Jar.Cookies(u)
}

func (b *Browser) Get(path string) Answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	require.NoError(b.t, err)
	return b.Do(req)
}

// Post sends a form without the hidden token of its page. It follows a redirect to a kept form (a confirmation or
// a list of mistakes).
func (b *Browser) Post(path string, values url.Values) Answer {
	b.t.Helper()
	return b.FollowKeptForm(b.PostWithoutFollowing(path, values))
}

// FollowKeptForm opens the kept form (a confirmation or a list of mistakes) to which a response redirects. Other
// responses are returned unchanged.
func (b *Browser) FollowKeptForm(a Answer) Answer {
	b.t.Helper()
	for _, page := range []string{site.ConfirmDepositPath, site.RetryNewDepositPath, site.ConfirmBulkActionPath} {
		if a.Status == http.StatusSeeOther && fiber.RoutePatternMatch(a.Location, page) {
			return b.Get(a.Location)
		}
	}
	return a
}

// PostWithoutFollowing sends a form as Post does, but follows no redirect to a kept form (a confirmation or a list
// of mistakes).
func (b *Browser) PostWithoutFollowing(path string, values url.Values) Answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, strings.NewReader(values.Encode()))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.Do(req)
}

func (b *Browser) Do(req *http.Request) Answer {
	b.t.Helper()
	if b.From != "" {
		req.Header.Set("X-Real-IP", b.From)
	}
	res, err := b.client.Do(req)
	require.NoError(b.t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	root, err := html.Parse(strings.NewReader(string(body)))
	require.NoError(b.t, err)
	return Answer{Status: res.StatusCode, Header: res.Header, Location: res.Header.Get("Location"), Body: string(body),
		Cookies: res.Cookies(), Root: root}
}

// Submit opens a page and sends its first form with the fields.
func (b *Browser) Submit(path string, fields map[string]string) Answer {
	b.t.Helper()
	page := b.Get(path)
	require.Equal(b.t, http.StatusOK, page.Status, page.Body)
	return b.Send(page, 0, fields)
}

// Send fills in and sends a page's form, counted from 0. Checkboxes are ticked, except beside a hidden field of
// the same name; radio buttons are not chosen.
func (b *Browser) Send(page Answer, number int, fields map[string]string) Answer {
	b.t.Helper()
	forms := page.ElementsByTag("form")
	require.Greater(b.t, len(forms), number, page.Body)
	values := url.Values{}
	for _, name := range []string{"input", "select", "textarea"} {
		for _, input := range all(forms[number], name) {
			name := attr(input, "name")
			switch kind := attr(input, "type"); {
			case kind == "radio":
				values[name] = nil
			case kind == "checkbox" && values.Has(name):
			default:
				values.Set(name, attr(input, "value"))
			}
		}
	}
	for name, value := range fields {
		require.Contains(b.t, values, name, "the form has no such field")
		values.Set(name, value)
	}
	return b.Post(attr(forms[number], "action"), values)
}

// UnlinkPartner ends the operator's link to a partner through the dashboard's forms.
func (b *Browser) UnlinkPartner() {
	b.t.Helper()
	sent := b.Send(b.Send(b.Get("/dashboard/partner"), 0, nil), 0, nil)
	require.Equal(b.t, http.StatusSeeOther, sent.Status, sent.Body)
}

func (a Answer) ElementsByTag(name string) []*html.Node { return all(a.Root, name) }

// ElementAttribute returns an attribute of a page's first element with that tag name; "": none.
func (a Answer) ElementAttribute(element, name string) string {
	return attr(a.first(element, func(*html.Node) bool { return true }), name)
}

// ErrorCode returns the error code in an error page; "": none.
func (a Answer) ErrorCode() string { return a.ElementAttribute("main", "data-error-code") }

// first returns a page's first element with that tag name that fits, or an element without attributes.
func (a Answer) first(element string, fits func(*html.Node) bool) *html.Node {
	for _, n := range a.ElementsByTag(element) {
		if fits(n) {
			return n
		}
	}
	return &html.Node{}
}

func (a Answer) InputAttribute(name, attribute string) string {
	return attr(a.first("input", func(n *html.Node) bool { return attr(n, "name") == name }), attribute)
}

// LinkURLByPrefix returns a page's first link address that begins with prefix; "": none.
func (a Answer) LinkURLByPrefix(prefix string) string {
	return attr(a.first("a", func(n *html.Node) bool { return strings.HasPrefix(attr(n, "href"), prefix) }), "href")
}

// LanguageLinkURL returns the address of a page's switch to a language; "": none.
func (a Answer) LanguageLinkURL(lang string) string {
	return attr(a.first("a", func(n *html.Node) bool { return attr(n, "hreflang") == lang }), "href")
}

// Cookie returns a cookie that the response sets; nil: none.
func (a Answer) Cookie(name string) *http.Cookie {
	for _, c := range a.Cookies {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func all(root *html.Node, name string) []*html.Node {
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	value, _ := formbrowser.ElementAttribute(n, name)
	return value
}

// SignedQuery returns a connect link's query, signed as a partner's server does. more is appended unsigned.
func SignedQuery(key secret.Text, slug, externalID, ts, more string) string {
	return "partner=" + slug + "&external_id=" + url.QueryEscape(externalID) + "&ts=" + ts + "&sig=" +
		connect.SignURL(key, slug, externalID, ts) + more
}

// AutofocusIDs returns the ids of a page's elements with autofocus, separated by spaces. A correct page has at
// most one.
func (a Answer) AutofocusIDs() string {
	var ids []string
	for n := range a.Root.Descendants() {
		if _, has := formbrowser.ElementAttribute(n, "autofocus"); has {
			ids = append(ids, attr(n, "id"))
		}
	}
	return strings.Join(ids, " ")
}
