package expand

import (
	"regexp"
	"slices"
	"strings"
)

// token is a word, a quoted name, a text, a number or a sign of SQL.
type token struct {
	text string // a word in lower case; a name or a text without its quotes
	kind kind
}

type kind int

const (
	word kind = iota
	quotedName
	text
	sign // numbers too
)

// lexeme finds the next token: a comment or spaces, which become none, a text with escapes, a word, a name in quotes, a
// text, or a number or a sign. A comment in a comment is refused, unread.
var lexeme = regexp.MustCompile(`^(?:((?s)\s+|--[^\n]*|/\*.*?\*/)|[eE]'(?:[^'\\]|\\.|'')*'|` +
	`([A-Za-z_\x{80}-\x{10FFFF}][\w$\x{80}-\x{10FFFF}]*)|"(?:[^"]|"")*"|'(?:[^']|'')*'|\d[\w.]*|::|.)`)

var dollarQuote = regexp.MustCompile(`^\$([A-Za-z_]\w*)?\$`)

// statements splits SQL at its semicolons.
func statements(sql string) (all [][]token) {
	var current []token
	for len(sql) > 0 {
		t, length, skipped := next(sql)
		switch {
		case skipped:
		case t.kind == sign && t.text == ";":
			if len(current) > 0 {
				all = append(all, current)
			}
			current = nil
		default:
			current = append(current, t)
		}
		sql = sql[length:]
	}
	if len(current) > 0 {
		all = append(all, current)
	}
	return all
}

// next reads the token at the start of sql.
func next(sql string) (t token, length int, skipped bool) {
	if tag := dollarQuote.FindString(sql); tag != "" {
		body, _, _ := strings.Cut(sql[len(tag):], tag)
		return token{body, text}, min(len(sql), len(body)+2*len(tag)), false
	}
	m := lexeme.FindStringSubmatch(sql)
	if m == nil {
		return token{sql[:1], sign}, 1, false // a byte that is no UTF-8
	}
	found := m[0]
	switch last := len(found) - 1; {
	case m[1] != "":
		skipped = true
	case m[2] != "":
		t = token{strings.ToLower(found), word}
	case last > 0 && found[0] == '"':
		t = token{found[1:last], quotedName}
	case last > 0 && found[last] == '\'':
		t = token{found[strings.Index(found, "'")+1 : last], text}
	default:
		t = token{found, sign}
	}
	return t, len(found), skipped
}

// cursor reads the tokens of a statement.
type cursor struct{ rest []token }

// take passes over the words if they are next.
func (c *cursor) take(words ...string) bool {
	if len(c.rest) < len(words) {
		return false
	}
	for i, w := range words {
		if !c.rest[i].is(w) {
			return false
		}
	}
	c.rest = c.rest[len(words):]
	return true
}

// takeAny passes over words as long as a single one of these is next.
func (c *cursor) takeAny(words ...string) {
	for len(c.rest) > 0 && slices.ContainsFunc(words, c.rest[0].is) {
		c.rest = c.rest[1:]
	}
}

// name reads a name, without its schema; "" where none is next.
func (c *cursor) name() (found string) {
	for len(c.rest) > 0 && (c.rest[0].kind == word || c.rest[0].kind == quotedName) {
		found = c.rest[0].text
		c.rest = c.rest[1:]
		if !c.take(".") {
			break
		}
	}
	return found
}

// is tells whether the token is the word or the sign.
func (t token) is(s string) bool { return t.text == s && (t.kind == word || t.kind == sign) }

// has tells whether the words stand somewhere in the tokens, one after the other.
func has(tokens []token, words ...string) bool {
	for i := range tokens {
		if c := (cursor{tokens[i:]}); c.take(words...) {
			return true
		}
	}
	return false
}

// hasAny tells whether a single one of the words stands in the tokens.
func hasAny(tokens []token, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return has(tokens, w) })
}

// outside leaves out all that stands in brackets.
func outside(tokens []token) (kept []token) {
	eachOutside(tokens, func(i int) { kept = append(kept, tokens[i]) })
	return kept
}

// parts splits tokens at the commas outside brackets.
func parts(tokens []token) (all [][]token) {
	from := 0
	eachOutside(tokens, func(i int) {
		if tokens[i].is(",") {
			all = append(all, tokens[from:i])
			from = i + 1
		}
	})
	return append(all, tokens[from:])
}

func eachOutside(tokens []token, each func(i int)) {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.is("("), t.is("["):
			depth++
		case t.is(")"), t.is("]"):
			depth--
		case depth == 0:
			each(i)
		}
	}
}

// brief shows the beginning of a statement.
func brief(tokens []token) string {
	const most = 12
	var words []string
	for _, t := range tokens[:min(len(tokens), most)] {
		if t.kind == text {
			t.text = "'…'"
		}
		words = append(words, t.text)
	}
	if len(tokens) > most {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}
