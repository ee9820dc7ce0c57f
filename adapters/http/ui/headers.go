package ui

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/net/idna"

	"partnerdeposits/core/returnurl"
)

// PageMiddleware is the middleware of every page for people: security headers, and a cookie for a language chosen
// by ?lang=.
func (s *SiteCookies) PageMiddleware(c *fiber.Ctx) error {
	SetSecurityHeaders(c)
	if l, ok := parseLang(c.Query(langParam)); ok {
		s.rememberLang(c, l)
	}
	return c.Next()
}

// SetSecurityHeaders sets a page's security headers: no script, frame, referrer or caching. Forms may post to this
// site only, unless AllowFormRedirects allows more targets.
func SetSecurityHeaders(c *fiber.Ctx) {
	c.Set(fiber.HeaderContentSecurityPolicy, policy("form-action 'self'"))
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderCacheControl, "no-store")
}

func policy(formAction string) string {
	parts := []string{"default-src 'none'", "style-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'",
		"base-uri 'none'"}
	if formAction != "" {
		parts = append(parts, formAction)
	}
	return strings.Join(parts, "; ")
}

// AllowFormRedirects allows a form's POST to redirect to the given URLs' origins: Chromium applies form-action to
// redirects. A policy cannot name an IPv6 address, which therefore removes form-action.
func AllowFormRedirects(c *fiber.Ctx, urls ...*url.URL) {
	sources := []string{"form-action", "'self'"}
	for _, u := range urls {
		source, ok := cspSource(u)
		if !ok {
			c.Set(fiber.HeaderContentSecurityPolicy, policy(""))
			return
		}
		sources = append(sources, source)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, policy(strings.Join(sources, " ")))
}

// AllowAnyFormRedirect removes form-action from the page's policy, for forms that end at an unknown origin, such
// as a payment provider's.
func AllowAnyFormRedirect(c *fiber.Ctx) { c.Set(fiber.HeaderContentSecurityPolicy, policy("")) }

// cspHost matches hosts that are safe in a Content-Security-Policy; other characters could begin a directive.
var cspHost = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// cspSource returns a URL's origin as browsers compare it with a Content-Security-Policy; false if a policy cannot
// name it.
func cspSource(u *url.URL) (string, bool) {
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		// The error is ignored: the conversion fails, for example, for an underscore, and cspHost decides whether a host
		// is safe.
		host = strings.ToLower(u.Hostname())
	}
	if !cspHost.MatchString(host) || (u.Scheme != "https" && u.Scheme != "http") {
		return "", false
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host, true
}

// HostForDisplay returns a return URL's host and port for people: in ASCII, so that look-alike letters are
// visible. A host that IDNA refuses is shown in punycode.
func HostForDisplay(u *url.URL) string {
	host := strings.TrimPrefix(strings.TrimPrefix(returnurl.Origin(u), "https://"), "http://")
	if source, ok := cspSource(u); ok {
		return strings.TrimPrefix(strings.TrimPrefix(source, "https://"), "http://")
	}
	if isASCII(host) {
		return host
	}
	// A host with non-ASCII letters is no IPv6 address, so a colon begins the port.
	name, port, _ := strings.Cut(host, ":")
	// The error is ignored: Punycode.ToASCII encodes what it can.
	encoded, _ := idna.Punycode.ToASCII(name)
	if !isASCII(encoded) {
		encoded = strings.Trim(strconv.QuoteToASCII(name), `"`)
	}
	if port != "" {
		encoded += ":" + port
	}
	return encoded
}

// IsASCIIHost reports whether a URL's host is an IP address, or ASCII that IDNA accepts. Any other host may be
// misread, so a page shows it first.
func IsASCIIHost(u *url.URL) bool {
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	_, err := idna.Lookup.ToASCII(host)
	return err == nil && isASCII(host)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
