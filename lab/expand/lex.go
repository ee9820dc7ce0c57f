package expand

import (
	"regexp"
	"slices"
	"strings"
)

// token is a word, a quoted name, a string, a number or a sign of SQL.
type token struct {
	// Text of an SQL token: words in lower case, names and strings without quotes.
	text string
	kind kind
}

type kind int

const (
	word kind = iota
	quotedName
	text
	sign
)

// lexeme matches the next SQL token, or white space or a comment to skip. A comment inside a comment is not
// supported: its statement is refused.
var lexeme = regexp.MustCompile(`^(?:((?s)\s+|--[^\n]*|/\*.*?\*/)|[eE]'(?:[^'\\]|\\.|'')*'|` +
	`([A-Za-z_\x{80}-\x{10FFFF}][\w$\x{80}-\x{10FFFF}]*)|"(?:[^"]|"")*"|'(?:[^']|'')*'|\d[\w.]*|::|.)`)

var dollarQuote = regexp.MustCompile(`^\$([A-Za-z_]\w*)?\$`)

// statements splits SQL at its semicolons into lists of tokens.
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

// next returns the first SQL token and its length in bytes. skipped reports whether it is white space or a
// comment.
func next(sql string) (t token, length int, skipped bool) {
	if tag := dollarQuote.FindString(sql); tag != "" {
		body, _, _ := strings.Cut(sql[len(tag):], tag)
		return token{body, text}, min(len(sql), len(body)+2*len(tag)), false
	}
	m := lexeme.FindStringSubmatch(sql)
	if m == nil {
		// A byte that is not valid UTF-8 becomes an SQL token by itself.
		return token{sql[:1], sign}, 1, false
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

// cursor reads the tokens of an SQL statement.
type cursor struct{ rest []token }

// take moves past the given words of an SQL statement, and reports whether they came next.
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

// takeAny moves past all of the given words that come next in a statement, in any order.
func (c *cursor) takeAny(words ...string) {
	for len(c.rest) > 0 && slices.ContainsFunc(words, c.rest[0].is) {
		c.rest = c.rest[1:]
	}
}

// name reads the next name of a statement, without its schema; "": none.
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

func (t token) is(s string) bool { return t.text == s && (t.kind == word || t.kind == sign) }

// has reports whether the words occur in a statement's tokens, directly one after the other.
func has(tokens []token, words ...string) bool {
	for i := range tokens {
		if c := (cursor{tokens[i:]}); c.take(words...) {
			return true
		}
	}
	return false
}

func hasAny(tokens []token, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return has(tokens, w) })
}

// outside returns a statement's tokens outside brackets.
func outside(tokens []token) (kept []token) {
	eachOutside(tokens, func(i int) { kept = append(kept, tokens[i]) })
	return kept
}

// parts splits a statement's tokens at the commas outside brackets.
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

// brief returns the first words of a statement, for a message.
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
