// Package oneline decides which texts may be names. A name goes into mails and pages between words of the service, so it
// must not begin a line of its own or turn the direction of the words around it.
package oneline

import (
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
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return false
		}
	}
	return true
}
