// Package mailaddr checks and compares e-mail addresses.
package mailaddr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Valid reports whether a text looks like an e-mail address: one @, a domain with a dot, no blanks, no invisible
// characters, at most 254 bytes.
func Valid(s string) bool {
	local, domain, found := strings.Cut(s, "@")
	if !found || len(s) > 254 || !utf8.ValidString(s) || local == "" || len(local) > 64 || strings.Contains(domain, "@") {
		return false
	}
	for _, r := range s {
		if unicode.In(r, unicode.C, unicode.Z) || strings.ContainsRune(`"(),:;<>[\]`, r) {
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

// Masked returns a valid e-mail address as its first letter and domain, like "l…@chalets.example".
func Masked(s string) string {
	at := strings.IndexByte(s, '@')
	_, first := utf8.DecodeRuneInString(s)
	if at < first {
		return "…"
	}
	return s[:first] + "…" + s[at:]
}

// Normalized returns an e-mail address with its ASCII letters in lower case, for comparison. Unicode folding would
// equate the addresses of two people.
func Normalized(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// CanonicalMailbox returns the mailbox behind a valid e-mail address, for counting mails to one person: in lower
// case, without a "+" tag, and at Gmail without dots.
func CanonicalMailbox(s string) string {
	local, domain, _ := strings.Cut(strings.ToLower(s), "@")
	if name, _, _ := strings.Cut(local, "+"); name != "" {
		local = name
	}
	if domain == "gmail.com" || domain == "googlemail.com" {
		local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com"
	}
	return local + "@" + domain
}
