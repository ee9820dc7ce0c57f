package main

import (
	"fmt"
	"strings"
)

// The greatest length of a line of generated PHP.
const phpWidth = 120

// docPHP is a PHP doc comment in the making, without its first and last line.
type docPHP struct {
	indent string
	lines  []string
}

func (d *docPHP) String() string { return strings.Join(d.lines, "\n") }

func (d *docPHP) line(text string) {
	// A no-break space only kept the line from being broken there.
	text = strings.ReplaceAll(text, "\u00a0", " ")
	d.lines = append(d.lines, strings.TrimRight(d.indent+" * "+text, " "))
}

// text adds Markdown to the doc comment, after an empty line.
func (d *docPHP) text(markdown string) {
	for paragraph := range strings.SplitSeq(markdown, "\n\n") {
		if paragraph == "" {
			continue
		}
		if len(d.lines) > 0 {
			d.line("")
		}
		d.wrap("", paragraph)
	}
}

func (d *docPHP) list(head string, fields []Field) {
	d.line("")
	d.line(head)
	for _, f := range fields {
		d.wrap("  ", fmt.Sprintf("- `%s`: %s", f.Name, f.Doc))
	}
}

func (d *docPHP) tag(text string) { d.wrap("    ", text) }

// wrap adds lines to the PHP doc comment, all but the first with the indent.
func (d *docPHP) wrap(indent, text string) {
	text = strings.ReplaceAll(text, "*/", "* /")
	d.line(wrapPHP(d.indent+" * "+indent, text))
}

// wrapPHP breaks a text at spaces into lines up to phpWidth.
func wrapPHP(indent, text string) string {
	var out strings.Builder
	length := len(indent)
	for i, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' }) {
		switch {
		case i == 0:
		case length+1+len([]rune(word)) > phpWidth:
			out.WriteString("\n" + indent)
			length = len(indent)
		default:
			out.WriteString(" ")
			length++
		}
		out.WriteString(word)
		length += len([]rune(word))
	}
	return out.String()
}
