// Package returnurl checks the URLs to which connect pages and checkout redirect a browser, and appends results to
// their query.
package returnurl

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// MaxLength is the largest length of a return URL, in bytes.
const MaxLength = 2048

// Errors for which a return URL is refused, as clauses after a field's name.
var (
	ErrMalformed = errors.New("is not an absolute URL")
	ErrTooLong   = errors.New("is longer than 2048 characters")
	ErrScheme    = errors.New("must be https (http is allowed for localhost only)")
	ErrUserInfo  = errors.New("must not carry a user name or password")
	ErrFragment  = errors.New("must not have a fragment")
)

// Parse parses a return URL. It accepts https and, if allowLocal is true, http on localhost. It refuses user info,
// fragments, control characters, blanks and backslashes, which browsers and servers interpret differently.
//
// Returns ErrMalformed, ErrTooLong, ErrScheme, ErrUserInfo or ErrFragment.
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
	if u.User != nil {
		return nil, ErrUserInfo
	}
	if strings.Contains(raw, "#") {
		return nil, ErrFragment
	}
	if u.Scheme == "https" || u.Scheme == "http" && allowLocal && IsLocalhost(u.Hostname()) {
		return u, nil
	}
	return nil, ErrScheme
}

// IsLocalhost reports whether host is localhost, 127.0.0.1 or ::1.
func IsLocalhost(host string) bool {
	switch strings.ToLower(host) {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}

// Origin returns scheme://host[:port] of a URL in lower case, as a partner's origins are registered.
func Origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// QueryParam is a parameter of a URL's query: key and value.
type QueryParam struct{ Key, Value string }

// AppendParams adds parameters to the query of a URL. Those that the URL has under the same keys, or the keys in
// ours, are removed first, so that no receiver takes the partner's value for this service's answer. The other bytes
// stay unchanged.
func AppendParams(raw string, params []QueryParam, ours ...string) string {
	for _, p := range params {
		ours = append(ours, p.Key)
	}
	raw = without(raw, ours)
	var b strings.Builder
	b.WriteString(raw)
	separator := byte('?')
	if strings.Contains(raw, "?") {
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

func without(raw string, keys []string) string {
	base, query, found := strings.Cut(raw, "?")
	if !found {
		return raw
	}
	kept := strings.Split(query, "&")
	all := len(kept)
	kept = slices.DeleteFunc(kept, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		return slices.Contains(keys, name)
	})
	switch len(kept) {
	case all:
		return raw
	case 0:
		return base
	}
	return base + "?" + strings.Join(kept, "&")
}
