// Package mailaddr decides which e-mail addresses are accepted.
package mailaddr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Valid accepts an address with a single @, a domain with a dot, no blanks, no invisible characters, and at most 254
// bytes. Only a mail can show whether the mailbox exists.
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

// Masked shows the owner of an address which it is, and nobody else: the first letter and the domain, as in
// "l…@chalets.example". s is a valid address.
func Masked(s string) string {
	at := strings.IndexByte(s, '@')
	_, first := utf8.DecodeRuneInString(s)
	if at < first {
		return "…"
	}
	return s[:first] + "…" + s[at:]
}

// Normal is the address with its ASCII letters in lower case. Two operators cannot share an address in this form. Other
// letters stay: Unicode would fold the Kelvin sign to k, and so make the address of one person that of another.
func Normal(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Mailbox names the mailbox behind a valid address, for counts: without the tag behind a "+", and at Gmail without
// dots, since mails to all of these arrive at the same person. Letters are folded further than by Normal.
func Mailbox(s string) string {
	local, domain, _ := strings.Cut(strings.ToLower(s), "@")
	if name, _, _ := strings.Cut(local, "+"); name != "" {
		local = name
	}
	if domain == "gmail.com" || domain == "googlemail.com" {
		local, domain = strings.ReplaceAll(local, ".", ""), "gmail.com"
	}
	return local + "@" + domain
}
