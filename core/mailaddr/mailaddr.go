// Package mailaddr says what we accept as an e-mail address.
package mailaddr

import (
	"strings"
	"unicode/utf8"
)

// Valid accepts addr-specs as people write them: one @, a dotted domain, no blanks, 254 bytes at most.
// Whether the mailbox exists only a mail can tell.
func Valid(s string) bool {
	local, domain, found := strings.Cut(s, "@")
	if !found || len(s) > 254 || !utf8.ValidString(s) || local == "" || len(local) > 64 || strings.Contains(domain, "@") {
		return false
	}
	for _, r := range s {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`"(),:;<>[\]`, r) {
			return false
		}
	}
	labels := strings.Split(domain, ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	return true
}

// Normal is the form under which an address is unique.
func Normal(s string) string { return strings.ToLower(s) }
