package ui

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
	ports "partnerdeposits/ports/platform"
)

// ErrInvalidFormToken is the fault for a form not sent from a page of this site.
var ErrInvalidFormToken = fault.New(fault.Forbidden, "invalid_csrf_token",
	"This form has expired. Open the page again and send it once more.")

const CSRFFieldName = "csrf_token"

const (
	sessionCookie  = "session"
	formCookie     = "form"
	checkoutCookie = "checkout"
	halfCookie     = "half"
	tokenBytes     = 32
	langMaxAge     = 365 * 24 * time.Hour
)

// SiteCookies handles the cookies and CSRF tokens of the dashboard's origin.
type SiteCookies struct {
	origin  string
	secure  bool
	entropy ports.Entropy
	cipher  CookieCipher
}

// NewSiteCookies returns the SiteCookies of the dashboard's absolute http or https URL. Returns an error for any
// other URL.
func NewSiteCookies(dashboardURL string, entropy ports.Entropy, cipher CookieCipher) (*SiteCookies, error) {
	u, err := url.Parse(dashboardURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("ui: dashboard base URL is not an absolute http or https URL")
	}
	return &SiteCookies{origin: browserOrigin(u), secure: u.Scheme == "https", entropy: entropy, cipher: cipher}, nil
}

// browserOrigin returns a URL's origin as in the Origin header: lower case, without the default port.
func browserOrigin(u *url.URL) string {
	usual := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	return strings.TrimSuffix(strings.ToLower(u.Scheme+"://"+u.Host), usual)
}

const hostPrefix = "__Host-"

// cookieName returns a cookie's name, on https with the prefix __Host-: browsers refuse it from other hosts and
// over http (RFC 6265bis, 4.1.3).
func (s *SiteCookies) cookieName(name string) string {
	if s.secure {
		return hostPrefix + name
	}
	return name
}

func (s *SiteCookies) setCookie(c *fiber.Ctx, name, value string, maxAge time.Duration) {
	c.Cookie(&fiber.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		Secure: s.secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

func (s *SiteCookies) rememberLang(c *fiber.Ctx, l Lang) {
	s.setCookie(c, s.cookieName(langCookie), string(l), langMaxAge)
}

// SessionToken returns the token in the session cookie; "" without one.
func (s *SiteCookies) SessionToken(c *fiber.Ctx) string {
	return c.Cookies(s.cookieName(sessionCookie))
}

// SetSession stores the session token in a cookie that lasts as long as the session. Forms rendered before become
// invalid.
func (s *SiteCookies) SetSession(c *fiber.Ctx, token string, lasts time.Duration) {
	s.setCookie(c, s.cookieName(sessionCookie), token, lasts)
	s.expire(c, s.cookieName(formCookie))
}

// SetHalfSignInToken stores the token of a half sign-in (password accepted, two-factor code missing) in a cookie
// beside the session. It opens only the page for the code.
func (s *SiteCookies) SetHalfSignInToken(c *fiber.Ctx, token string, lasts time.Duration) {
	s.setCookie(c, s.cookieName(halfCookie), token, lasts)
}

// HalfSignInToken returns the token of a half sign-in (two-factor code still missing) from the cookie; "" without
// one.
func (s *SiteCookies) HalfSignInToken(c *fiber.Ctx) string {
	return c.Cookies(s.cookieName(halfCookie))
}

// ClearHalfSignIn deletes the cookie of a half sign-in (two-factor code still missing).
func (s *SiteCookies) ClearHalfSignIn(c *fiber.Ctx) { s.expire(c, s.cookieName(halfCookie)) }

// SetCheckoutCookie sets the cookie that proves, after a payment page, that a tenant's browser had the checkout
// token. It lasts until the browser closes or another checkout replaces it.
func (s *SiteCookies) SetCheckoutCookie(c *fiber.Ctx, value string) {
	s.setCookie(c, s.cookieName(checkoutCookie), value, 0)
}

// CheckoutCookie returns the cookie that SetCheckoutCookie set; "" without one.
func (s *SiteCookies) CheckoutCookie(c *fiber.Ctx) string {
	return c.Cookies(s.cookieName(checkoutCookie))
}

// ClearSession deletes the cookies of the session, the last operator and an unsent form.
func (s *SiteCookies) ClearSession(c *fiber.Ctx) {
	for _, name := range []string{sessionCookie, operatorCookie, unsentCookie} {
		s.expire(c, s.cookieName(name))
	}
}

func (s *SiteCookies) expire(c *fiber.Ctx, name string) {
	c.Cookie(&fiber.Cookie{
		Name: name, Path: "/", Expires: time.Unix(0, 0),
		Secure: s.secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// FormToken returns a form's CSRF token, bound to the session cookie or, without a session, to a form cookie that
// it sets.
func (s *SiteCookies) FormToken(c *fiber.Ctx) string {
	if secret := s.formSecret(c); secret != "" {
		return s.SignText(secret, CSRFFieldName)
	}
	secret := base64.RawURLEncoding.EncodeToString(s.entropy.Bytes(tokenBytes))
	// A lifetime of 0 makes the cookie last until the browser closes.
	s.setCookie(c, s.cookieName(formCookie), secret, 0)
	return s.SignText(secret, CSRFFieldName)
}

// FormTokenOfSession returns the CSRF token for a page whose response starts the given session.
func (s *SiteCookies) FormTokenOfSession(session string) string {
	return s.SignText(session, CSRFFieldName)
}

// formSecret returns the cookie to which CSRF tokens are bound; "" without one or for a wrong length.
func (s *SiteCookies) formSecret(c *fiber.Ctx) string {
	for _, name := range []string{sessionCookie, formCookie} {
		if v := c.Cookies(s.cookieName(name)); len(v) == base64.RawURLEncoding.EncodedLen(tokenBytes) {
			return v
		}
	}
	return ""
}

// SignText returns the HMAC-SHA256 of text under secret, in hexadecimal.
func (s *SiteCookies) SignText(secret, text string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// VerifySignedText reports in constant time whether seal is the HMAC of text under secret.
func (s *SiteCookies) VerifySignedText(secret, text, seal string) bool {
	return subtle.ConstantTimeCompare([]byte(s.SignText(secret, text)), []byte(seal)) == 1
}

// NetworkOfIP returns a client address's rate-limit key: an IPv6 address becomes its /64 network, all of one
// subscriber; other texts stay.
func NetworkOfIP(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Unmap().Is4() {
		return ip
	}
	prefix, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}

// CheckCSRF refuses a POST that another site caused. Returns ErrInvalidFormToken.
func (s *SiteCookies) CheckCSRF(c *fiber.Ctx) error {
	if !s.SameOrigin(c) {
		return ErrInvalidFormToken
	}
	secret := s.formSecret(c)
	if secret == "" || !s.VerifySignedText(secret, CSRFFieldName, PostValue(c, CSRFFieldName)) {
		return ErrInvalidFormToken
	}
	return nil
}

// PostValue returns a posted form's first value of a field. Unlike c.FormValue it never reads the query, where a
// partner's prefilled values have the same names.
func PostValue(c *fiber.Ctx, name string) string { return string(c.Request().PostArgs().Peek(name)) }

// SameOrigin reports whether a form was not sent by another site, by Sec-Fetch-Site if sent. Origin is "null" on
// this site's own forms, so only an Origin that names another site is refused.
func (s *SiteCookies) SameOrigin(c *fiber.Ctx) bool {
	switch c.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
	default:
		return false
	}
	origin := c.Get(fiber.HeaderOrigin)
	return origin == "" || origin == "null" || origin == s.origin
}
