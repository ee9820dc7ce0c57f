// Package returnurl checks the URLs that we redirect a browser to and appends our result to them.
// Both the connect pages (return_url) and checkout (returnUrl) stand on it.
package returnurl

import (
	"errors"
	"net/url"
	"strings"
)

// MaxLength is the longest URL that is accepted, in bytes.
const MaxLength = 2048

// Reasons for refusing a URL. Their text is ours and may be shown after a field name.
var (
	ErrMalformed = errors.New("is not an absolute URL")
	ErrTooLong   = errors.New("is longer than 2048 characters")
	ErrScheme    = errors.New("must be https (http is allowed for localhost only)")
	ErrUserInfo  = errors.New("must not carry a user name or password")
	ErrFragment  = errors.New("must not have a fragment")
)

// Parse accepts https URLs and, where allowLocal is true, http on localhost, 127.0.0.1 or [::1].
// User info, fragments, control characters, blanks and backslashes are refused: browsers and servers read those differently.
//
// Returns one of the errors above.
func Parse(raw string, allowLocal bool) (*url.URL, error) {
	if len(raw) > MaxLength {
		return nil, ErrTooLong
	}
	for _, r := range raw {
		if r <= ' ' || r == 0x7f || r == '\\' {
			return nil, ErrMalformed
		}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return nil, ErrMalformed
	}
	switch {
	case u.User != nil:
		return nil, ErrUserInfo
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return nil, ErrFragment
	case u.Scheme == "https", u.Scheme == "http" && allowLocal && IsLocalhost(u.Hostname()):
		return u, nil
	default:
		return nil, ErrScheme
	}
}

// IsLocalhost reports whether host names this machine the way a developer writes it.
func IsLocalhost(host string) bool {
	switch strings.ToLower(host) {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}

// Origin gives scheme://host[:port] in lower case, the form that origins are registered in.
func Origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// Param is one query parameter.
type Param struct{ Key, Value string }

// Append adds params behind whatever query raw already has, which stays as it was to the byte.
// raw has passed Parse.
func Append(raw string, params ...Param) string {
	var b strings.Builder
	b.WriteString(raw)
	separator := byte('?')
	if i := strings.IndexByte(raw, '?'); i >= 0 {
		separator = '&'
		if last := raw[len(raw)-1]; last == '?' || last == '&' {
			separator = 0
		}
	}
	for _, p := range params {
		if separator != 0 {
			b.WriteByte(separator)
		}
		b.WriteString(url.QueryEscape(p.Key))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.Value))
		separator = '&'
	}
	return b.String()
}
