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

// Browser keeps cookies and follows no redirects.
type Browser struct {
	From   string // address of the client, as a trusted proxy tells it; "": that of the connection
	t      testing.TB
	base   string
	client *http.Client
}

// Browser gives a browser with no cookies.
func (s *Server) Browser(t testing.TB) *Browser {
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

// Answer is a response with its body read.
type Answer struct {
	Status   int
	Header   http.Header
	Location string
	Body     string
	Cookies  []*http.Cookie
	Root     *html.Node
}

// Cookies gives the cookies that the browser would send to a URL.
func (b *Browser) Cookies(at string) []*http.Cookie {
	b.t.Helper()
	u, err := url.Parse(at)
	require.NoError(b.t, err)
	return b.client.Jar.Cookies(u)
}

// Get requests a path of the server.
func (b *Browser) Get(path string) Answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	require.NoError(b.t, err)
	return b.Do(req)
}

// Post sends a form without adding the token of the page. It opens the page of a kept form, which asks once more or
// names mistakes.
func (b *Browser) Post(path string, values url.Values) Answer {
	b.t.Helper()
	return b.Kept(b.PostAlone(path, values))
}

// Kept opens the page of the kept form that an answer leads to. Any other answer stays.
func (b *Browser) Kept(a Answer) Answer {
	b.t.Helper()
	for _, page := range []string{site.Question, site.NewAgain, site.Several} {
		if a.Status == http.StatusSeeOther && fiber.RoutePatternMatch(a.Location, page) {
			return b.Get(a.Location)
		}
	}
	return a
}

// PostAlone is Post without the page of a kept form.
func (b *Browser) PostAlone(path string, values url.Values) Answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, strings.NewReader(values.Encode()))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.Do(req)
}

// Do sends a request.
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

// Submit opens a page, and fills in and sends its first form.
func (b *Browser) Submit(path string, fields map[string]string) Answer {
	b.t.Helper()
	page := b.Get(path)
	require.Equal(b.t, http.StatusOK, page.Status, page.Body)
	return b.Send(page, 0, fields)
}

// Send fills in and sends a form of a page. number counts the forms from 0. Its boxes are ticked, but for one beside a
// hidden field of its name, and none of its radio buttons is chosen.
func (b *Browser) Send(page Answer, number int, fields map[string]string) Answer {
	b.t.Helper()
	forms := page.All("form")
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

// Unlink ends the link of the signed-in operator, through both of its forms.
func (b *Browser) Unlink() {
	b.t.Helper()
	sent := b.Send(b.Send(b.Get("/dashboard/partner"), 0, nil), 0, nil)
	require.Equal(b.t, http.StatusSeeOther, sent.Status, sent.Body)
}

// All gives the elements of that name in document order.
func (a Answer) All(name string) []*html.Node { return all(a.Root, name) }

// Attr gives an attribute of the first element of that name; "" if the attribute is missing.
func (a Answer) Attr(element, name string) string {
	return attr(a.first(element, func(*html.Node) bool { return true }), name)
}

// Code is the error code that the page carries.
func (a Answer) Code() string { return a.Attr("main", "data-error-code") }

// first gives the first element of that name that fits, or an element without attributes.
func (a Answer) first(element string, fits func(*html.Node) bool) *html.Node {
	for _, n := range a.All(element) {
		if fits(n) {
			return n
		}
	}
	return &html.Node{}
}

// Input gives an attribute of the input of that name.
func (a Answer) Input(name, attribute string) string {
	return attr(a.first("input", func(n *html.Node) bool { return attr(n, "name") == name }), attribute)
}

// LinkTo gives the first link whose address begins with prefix.
func (a Answer) LinkTo(prefix string) string {
	return attr(a.first("a", func(n *html.Node) bool { return strings.HasPrefix(attr(n, "href"), prefix) }), "href")
}

// LinkIn gives the address of the language switch to lang; "" if the page has no such switch.
func (a Answer) LinkIn(lang string) string {
	return attr(a.first("a", func(n *html.Node) bool { return attr(n, "hreflang") == lang }), "href")
}

// Cookie gives a cookie that the answer sets; nil if the answer sets no cookie of that name.
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
	value, _ := formbrowser.Attribute(n, name)
	return value
}

// Query signs connect parameters as a partner's server does. more is appended without a signature.
func Query(key secret.Text, slug, externalID, ts, more string) string {
	return "partner=" + slug + "&external_id=" + url.QueryEscape(externalID) + "&ts=" + ts + "&sig=" +
		connect.Sign(key, slug, externalID, ts) + more
}

// Focused gives the id of the field that has the focus on a page; "" for none. A page has one at most.
func (a Answer) Focused() string {
	var ids []string
	for n := range a.Root.Descendants() {
		if _, has := formbrowser.Attribute(n, "autofocus"); has {
			ids = append(ids, attr(n, "id"))
		}
	}
	return strings.Join(ids, " ")
}
