// Package oneline decides which texts may be names. A name goes into mails and pages between words of the service, so
// it must not begin a line of its own or turn the direction of the words around it.
package oneline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Valid accepts UTF-8 without control characters, line and paragraph separators, and marks that change the direction of
// writing.
func Valid(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if forbidden(r) {
			return false
		}
	}
	return true
}

// Clean is s with a blank for everything that Valid refuses, for texts from before a check.
func Clean(s string) string {
	if Valid(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if forbidden(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func forbidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
