package ui

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/net/idna"

	"partnerdeposits/core/returnurl"
)

// Headers puts the security headers on every page, and remembers a language chosen by ?lang=.
func (s *Site) Headers(c *fiber.Ctx) error {
	SecureHeaders(c)
	if l, ok := known(c.Query(langParam)); ok {
		s.rememberLang(c, l)
	}
	return c.Next()
}

// SecureHeaders sets what every answer for people carries: no script, no frame, no referrer, no copy in a cache.
// Forms may post to this site alone; SetFormTargets widens that.
func SecureHeaders(c *fiber.Ctx) {
	c.Set(fiber.HeaderContentSecurityPolicy, policy("form-action 'self'"))
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderCacheControl, "no-store")
}

func policy(formAction string) string {
	parts := []string{"default-src 'none'", "style-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'", "base-uri 'none'"}
	if formAction != "" {
		parts = append(parts, formAction)
	}
	return strings.Join(parts, "; ")
}

// SetFormTargets allows the forms of this page to end, by redirect, at the origins of urls as well: Chromium holds
// every hop after a POST against form-action. An origin that a policy cannot name (an IPv6 address) leaves form-action
// out of this page's policy.
func SetFormTargets(c *fiber.Ctx, urls ...*url.URL) {
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

// SetAnyFormTarget leaves form-action out of this page's policy, for forms that end wherever others lead: at a payment
// provider's page, or a return URL that redirects again.
func SetAnyFormTarget(c *fiber.Ctx) { c.Set(fiber.HeaderContentSecurityPolicy, policy("")) }

// A host as a policy may name it; whatever is outside could end the source and begin a directive.
var cspHost = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// cspSource gives the origin of a URL in the form that browsers compare policies with.
func cspSource(u *url.URL) (string, bool) {
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		host = strings.ToLower(u.Hostname()) // an underscore, say; the pattern decides
	}
	if !cspHost.MatchString(host) || (u.Scheme != "https" && u.Scheme != "http") {
		return "", false
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host, true
}

// DisplayHost is the host of a return URL as a person should read it: in ASCII, so that no look-alike letters pass, with
// the port where there is one.
func DisplayHost(u *url.URL) string {
	if source, ok := cspSource(u); ok {
		return strings.TrimPrefix(strings.TrimPrefix(source, "https://"), "http://")
	}
	return strings.TrimPrefix(strings.TrimPrefix(returnurl.Origin(u), "https://"), "http://")
}
