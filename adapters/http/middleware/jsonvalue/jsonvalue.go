// Package jsonvalue reads the JSON body of a request into plain values and refuses what other parsers read in more than
// one way: duplicate keys, text that is not UTF-8, half surrogates, the NUL character, deep nesting.
package jsonvalue

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"partnerdeposits/core/fault"
)

// MaxDepth is how deep objects and lists may be nested. Our own schemas need three levels.
const MaxDepth = 32

// Largest stands for every number beyond the range of a float64, which nothing that reads it as one can hold.
// Every bound of ours is smaller, so the verdict on the number is the same.
const Largest = json.Number("1e308")

// Object reads data, which must be one JSON object. Values are nil, bool, string, json.Number, []any and map[string]any.
//
// Returns invalid_json, or invalid_field naming the field for a text that we cannot keep.
func Object(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, fault.ErrInvalidJSON.WithMessage("The request body is not valid UTF-8.")
	}
	if !json.Valid(data) {
		return nil, fault.ErrInvalidJSON
	}
	p := parser{data: data}
	p.space()
	if p.data[p.at] != '{' {
		return nil, fault.ErrInvalidJSON.WithMessage("The request body must be a JSON object.")
	}
	return p.object(nil, 1)
}

// parser walks data that json.Valid has accepted, so it looks for no syntax errors.
type parser struct {
	data []byte
	at   int
}

// place is where a value stands, for messages.
type place struct {
	parent *place
	key    string
	index  int // of a list item; -1 for a member of an object
}

func (p *parser) space() {
	for {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) value(at *place, depth int) (any, error) {
	switch p.data[p.at] {
	case '{':
		return p.object(at, depth+1)
	case '[':
		return p.list(at, depth+1)
	case '"':
		return p.text(at)
	case 't':
		p.at += len("true")
		return true, nil
	case 'f':
		p.at += len("false")
		return false, nil
	case 'n':
		p.at += len("null")
		return nil, nil //nolint:nilnil // JSON null is nil
	default:
		return p.number(), nil
	}
}

func (p *parser) object(at *place, depth int) (map[string]any, error) {
	if depth > MaxDepth {
		return nil, errTooDeep()
	}
	out := map[string]any{}
	for p.at++; ; p.at++ { // over '{' or ','
		p.space()
		if p.data[p.at] == '}' {
			p.at++
			return out, nil
		}
		key, err := p.text(at)
		if err != nil {
			return nil, err
		}
		here := place{parent: at, key: key, index: -1}
		if _, twice := out[key]; twice {
			return nil, fault.ErrInvalidJSON.WithField(here.String(), "appears more than once")
		}
		p.space()
		p.at++ // ':'
		p.space()
		if out[key], err = p.value(&here, depth); err != nil {
			return nil, err
		}
		p.space()
		if p.data[p.at] == '}' {
			p.at++
			return out, nil
		}
	}
}

func (p *parser) list(at *place, depth int) ([]any, error) {
	if depth > MaxDepth {
		return nil, errTooDeep()
	}
	out := []any{}
	for p.at++; ; p.at++ { // over '[' or ','
		p.space()
		if p.data[p.at] == ']' {
			p.at++
			return out, nil
		}
		item, err := p.value(&place{parent: at, index: len(out)}, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
		p.space()
		if p.data[p.at] == ']' {
			p.at++
			return out, nil
		}
	}
}

func errTooDeep() error {
	return fault.ErrInvalidJSON.WithMessage("The request body is nested deeper than %d levels.", MaxDepth)
}

func (p *parser) number() json.Number {
	start := p.at
	for p.at < len(p.data) && strings.IndexByte("+-.eE0123456789", p.data[p.at]) >= 0 {
		p.at++
	}
	literal := json.Number(p.data[start:p.at])
	if _, err := literal.Float64(); err != nil {
		if literal[0] == '-' {
			return "-" + Largest
		}
		return Largest
	}
	return literal
}

func (p *parser) text(at *place) (string, error) {
	p.at++ // the opening quote
	start := p.at
	for p.data[p.at] != '"' && p.data[p.at] != '\\' {
		p.at++
	}
	if p.data[p.at] == '"' {
		p.at++
		return string(p.data[start : p.at-1]), nil
	}
	out := append([]byte(nil), p.data[start:p.at]...)
	for {
		c := p.data[p.at]
		p.at++
		switch c {
		case '"':
			return string(out), nil
		case '\\':
			r, err := p.escaped(at)
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
}

var escapes = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads what follows a backslash.
func (p *parser) escaped(at *place) (rune, error) {
	c := p.data[p.at]
	p.at++
	if c != 'u' {
		return escapes[c], nil
	}
	r := p.hex4()
	switch {
	case r == 0:
		return 0, fault.ErrInvalidField.WithField(at.String(), "must not contain the NUL character")
	case r < 0xd800 || r > 0xdfff:
		return r, nil
	case r < 0xdc00 && p.data[p.at] == '\\' && p.data[p.at+1] == 'u':
		p.at += 2
		if low := p.hex4(); low >= 0xdc00 && low <= 0xdfff {
			return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, nil
		}
	}
	return 0, fault.ErrInvalidField.WithField(at.String(), "contains half of a surrogate pair")
}

func (p *parser) hex4() rune {
	r, err := strconv.ParseUint(string(p.data[p.at:p.at+4]), 16, 16)
	if err != nil {
		panic("jsonvalue: json.Valid let a bad escape pass")
	}
	p.at += 4
	return rune(r)
}

// String names the place as a caller would: events[1], metadata.note. "body" where there is none.
func (pl *place) String() string {
	if pl == nil {
		return "body"
	}
	var path Path
	for ; pl != nil; pl = pl.parent {
		if pl.index >= 0 {
			path = append(path, "["+strconv.Itoa(pl.index)+"]")
		} else {
			path = append(path, pl.key)
		}
	}
	for l, r := 0, len(path)-1; l < r; l, r = l+1, r-1 {
		path[l], path[r] = path[r], path[l]
	}
	return path.String()
}

// Path is a chain of keys, and of indexes as "[1]", from the outside in.
type Path []string

// maxPath bounds how much of the caller's own text a message repeats.
const maxPath = 120

// String joins the path. Keys that are not plain ASCII are shown as "?".
func (p Path) String() string {
	var b strings.Builder
	for i, segment := range p {
		if i > 0 && !strings.HasPrefix(segment, "[") {
			b.WriteByte('.')
		}
		b.WriteString(printable(segment))
		if b.Len() > maxPath {
			return b.String()[:maxPath] + "…"
		}
	}
	return b.String()
}

func printable(key string) string {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return "?"
		}
	}
	return key
}
