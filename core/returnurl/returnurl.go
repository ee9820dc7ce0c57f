// Package returnurl checks a URL that a browser is redirected to, and appends the result to the URL's query. The
// connect pages (return_url) and checkout (returnUrl) use the package.
package returnurl

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// MaxLength is the length limit of a URL, in bytes.
const MaxLength = 2048

// Reasons to refuse a URL. The texts may be shown after the name of a field.
var (
	ErrMalformed = errors.New("is not an absolute URL")
	ErrTooLong   = errors.New("is longer than 2048 characters")
	ErrScheme    = errors.New("must be https (http is allowed for localhost only)")
	ErrUserInfo  = errors.New("must not carry a user name or password")
	ErrFragment  = errors.New("must not have a fragment")
)

// Parse accepts https URLs and, if allowLocal is true, http on localhost, 127.0.0.1 or [::1]. Parse refuses user info,
// fragments, control characters, blanks and backslashes, since browsers and servers read those differently.
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

// Origin gives scheme://host[:port] in lower case, the form of a partner's registered origins.
func Origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// Param is a query parameter.
type Param struct{ Key, Value string }

// Append adds params to the query of raw, which has passed Parse. Parameters that raw has under one of these keys, or
// one of ours, are removed first: whoever reads the first of two would take the partner's for our answer. The other
// bytes of raw stay unchanged.
func Append(raw string, params []Param, ours ...string) string {
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

// without removes the parameters with these keys from the query of raw.
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
