// Package formbrowser is a browser without scripts, for programs that use the service's pages as tenants do. It
// uploads no files.
package formbrowser

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

type Browser struct{ client *http.Client }

// New returns a browser without cookies. timeout bounds a request with all its redirects; nil is the standard
// transport.
func New(timeout time.Duration, transport http.RoundTripper) *Browser {
	jar, _ := cookiejar.New(nil) // A cookie jar without options never fails.
	return &Browser{&http.Client{Timeout: timeout, Jar: jar, Transport: transport}}
}

// RandomAddressTransport sends each request with another client address, so that simulated tenants do not share a
// rate limit.
type RandomAddressTransport struct{ http.RoundTripper }

func (e RandomAddressTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	const octet = 256
	r = r.Clone(r.Context())
	r.Header.Set("X-Real-IP",
		fmt.Sprintf("10.%d.%d.%d", rand.IntN(octet), rand.IntN(octet), rand.IntN(octet))) //nolint:gosec // no secret
	return e.RoundTripper.RoundTrip(r)
}

// StubSiteTransport answers requests to one site, the partner's, with an empty 200, and sends all others on.
type StubSiteTransport struct {
	http.RoundTripper
	Origin string
}

func (s StubSiteTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.String(), s.Origin) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	}
	return s.RoundTripper.RoundTrip(r)
}

// Page is the response after all redirects, with its forms.
type Page struct {
	URL    *url.URL
	Status int
	Body   []byte
	Forms  []Form
}

type Form struct {
	Action *url.URL
	// The values that the unchanged form sends, without unchecked boxes.
	Fields url.Values
	names  map[string]bool
}

func (b *Browser) Get(ctx context.Context, address string) (Page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return Page{}, err
	}
	return b.open(request)
}

// Submit sends the page's form with the given control and other values for some fields, and returns the page that
// follows.
func (b *Browser) Submit(ctx context.Context, p Page, control string, values map[string]string) (Page, error) {
	form, found := p.Form(control)
	if !found {
		return Page{}, fmt.Errorf("no form with %s at %s, which answered %d", control, p.URL.Path, p.Status)
	}
	fields := maps.Clone(form.Fields)
	for name, value := range values {
		fields.Set(name, value)
	}
	body := strings.NewReader(fields.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, form.Action.String(), body)
	if err != nil {
		return Page{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", form.Action.Scheme+"://"+form.Action.Host)
	return b.open(request)
}

func (b *Browser) open(request *http.Request) (p Page, err error) {
	response, err := b.client.Do(request)
	if err != nil {
		return p, err
	}
	defer func() { _ = response.Body.Close() }()
	p.URL, p.Status = response.Request.URL, response.StatusCode
	if p.Body, err = io.ReadAll(response.Body); err != nil {
		return p, err
	}
	root, err := html.Parse(bytes.NewReader(p.Body))
	if err != nil {
		return p, err
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			p.Forms = append(p.Forms, formOf(n, p.URL))
		}
	}
	return p, nil
}

// Form returns the page's first form with a control of that name; false: none.
func (p Page) Form(control string) (Form, bool) {
	for _, f := range p.Forms {
		if f.names[control] {
			return f, true
		}
	}
	return Form{}, false
}

func formOf(n *html.Node, base *url.URL) Form {
	f := Form{Action: base, Fields: url.Values{}, names: map[string]bool{}}
	action, _ := ElementAttribute(n, "action")
	if target, err := base.Parse(action); err == nil {
		f.Action = target
	}
	for c := range n.Descendants() {
		name, _ := ElementAttribute(c, "name")
		if c.Type != html.ElementNode || name == "" ||
			!slices.Contains([]string{"button", "input", "textarea", "select"}, c.Data) {
			continue
		}
		f.names[name] = true
		kind, _ := ElementAttribute(c, "type")
		value, _ := ElementAttribute(c, "value")
		_, checked := ElementAttribute(c, "checked")
		switch {
		case c.Data == "button", kind == "submit", (kind == "checkbox" || kind == "radio") && !checked:
			// A button or an unchecked box sends its value only when it is clicked.
		case c.Data == "textarea":
			f.Fields.Add(name, ElementText(c))
		case c.Data == "select":
			f.Fields.Add(name, selected(c))
		default:
			f.Fields.Add(name, value)
		}
	}
	return f
}

func selected(n *html.Node) (value string) {
	first := true
	for c := range n.Descendants() {
		if _, chosen := ElementAttribute(c,
			"selected"); c.Type == html.ElementNode && c.Data == "option" && (first || chosen) {
			value, _ = ElementAttribute(c, "value")
			first = false
		}
	}
	return value
}

func ElementText(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// ElementAttribute returns an HTML element's attribute; found reports whether it has one.
func ElementAttribute(n *html.Node, name string) (value string, found bool) {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return "", false
	}
	return n.Attr[i].Val, true
}
