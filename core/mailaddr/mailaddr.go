// Package mailaddr decides which e-mail addresses are accepted.
package mailaddr

import (
	"strings"
	"unicode/utf8"
)

// Valid accepts an address with a single @, a domain with a dot, no blanks, and at most 254 bytes. Only a mail can show
// whether the mailbox exists.
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

// Normal is the lower-case form. Two operators cannot share an address in this form.
func Normal(s string) string { return strings.ToLower(s) }
