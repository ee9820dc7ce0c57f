package ui

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// ErrForm answers a form that did not come from a page of ours.
var ErrForm = fault.New(fault.Forbidden, "invalid_csrf_token", "This form has expired. Open the page again and send it once more.")

// FieldCSRF is the name of the hidden field that every form carries.
const FieldCSRF = "csrf_token"

const (
	sessionCookie = "session"
	formCookie    = "form"
	tokenBytes    = 32
	langMaxAge    = 365 * 24 * time.Hour
)

// Site knows where the pages live. It keeps the cookies and guards the forms.
type Site struct {
	origin  string
	secure  bool
	entropy ports.Entropy
}

// NewSite makes the site at dashboardURL, an absolute http or https URL.
func NewSite(dashboardURL string, entropy ports.Entropy) (*Site, error) {
	u, err := url.Parse(dashboardURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("ui: dashboard base URL is not an absolute http or https URL")
	}
	return &Site{origin: browserOrigin(u), secure: u.Scheme == "https", entropy: entropy}, nil
}

// browserOrigin gives the origin as browsers write it: in lower case, without the port that goes without saying.
func browserOrigin(u *url.URL) string {
	usual := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	return strings.TrimSuffix(strings.ToLower(u.Scheme+"://"+u.Host), usual)
}

// cookieName adds the prefix that makes browsers refuse the cookie from any other host or over http (RFC 6265bis, 4.1.3).
func (s *Site) cookieName(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

func (s *Site) setCookie(c *fiber.Ctx, name, value string, maxAge time.Duration) {
	c.Cookie(&fiber.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		Secure: s.secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

func (s *Site) rememberLang(c *fiber.Ctx, l Lang) { s.setCookie(c, langCookie, string(l), langMaxAge) }

// SessionToken gives the token of the session cookie; "" where there is none.
func (s *Site) SessionToken(c *fiber.Ctx) string { return c.Cookies(s.cookieName(sessionCookie)) }

// SetSession hands a session to the browser, for as long as it lasts. Forms rendered before are no longer accepted.
func (s *Site) SetSession(c *fiber.Ctx, token string, lasts time.Duration) {
	s.setCookie(c, s.cookieName(sessionCookie), token, lasts)
	s.expire(c, s.cookieName(formCookie))
}

// ClearSession takes the session from the browser.
func (s *Site) ClearSession(c *fiber.Ctx) { s.expire(c, s.cookieName(sessionCookie)) }

func (s *Site) expire(c *fiber.Ctx, name string) {
	c.Cookie(&fiber.Cookie{
		Name: name, Path: "/", Expires: time.Unix(0, 0),
		Secure: s.secure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// FormToken gives the value of the hidden field. It is bound to the session cookie, and before there is one to a cookie
// of its own, which this sets: only a page of ours can know it.
func (s *Site) FormToken(c *fiber.Ctx) string {
	if secret := s.formSecret(c); secret != "" {
		return s.Seal(secret, FieldCSRF)
	}
	secret := base64.RawURLEncoding.EncodeToString(s.entropy.Bytes(tokenBytes))
	s.setCookie(c, s.cookieName(formCookie), secret, 0) // until the browser closes
	return s.Seal(secret, FieldCSRF)
}

// formSecret is the cookie that forms are bound to. A cookie too short to be ours counts for nothing.
func (s *Site) formSecret(c *fiber.Ctx) string {
	for _, name := range []string{sessionCookie, formCookie} {
		if v := c.Cookies(s.cookieName(name)); len(v) == base64.RawURLEncoding.EncodedLen(tokenBytes) {
			return v
		}
	}
	return ""
}

// Seal gives a keyed hash of text that only the holder of secret can make.
func (s *Site) Seal(secret, text string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// Sealed reports whether seal is Seal(secret, text).
func (s *Site) Sealed(secret, text, seal string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Seal(secret, text)), []byte(seal)) == 1
}

// CheckForm refuses a POST that another site made a browser send.
//
// Returns ErrForm.
func (s *Site) CheckForm(c *fiber.Ctx) error {
	if !s.sameOrigin(c) {
		return ErrForm
	}
	secret := s.formSecret(c)
	if secret == "" || !s.Sealed(secret, FieldCSRF, PostValue(c, FieldCSRF)) {
		return ErrForm
	}
	return nil
}

// PostValue gives a field of a posted form, the first of that name. Unlike c.FormValue it never reads the query: there a
// partner's prefill has the same names.
func PostValue(c *fiber.Ctx, name string) string { return string(c.Request().PostArgs().Peek(name)) }

// sameOrigin believes Sec-Fetch-Site where the browser sends it. Origin says "null" on our own forms, since our pages send
// no referrer, so it only convicts where it names somebody else.
func (s *Site) sameOrigin(c *fiber.Ctx) bool {
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
