// Package oneline decides which texts may be names: pages and mails show them, so they must not begin a new line or
// change the direction of the text.
package oneline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Valid reports whether a text is UTF-8 without control characters, line separators, and marks of writing
// direction.
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

// Clean returns a text with a space for each character that Valid refuses, for names stored before they were
// checked.
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
