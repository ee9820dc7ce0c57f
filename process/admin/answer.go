package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// fields is an ordered list of names and values, printed as a JSON object or as lines.
type fields []field

type field struct {
	name  string
	value any
}

func (f fields) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, each := range f {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(each.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(each.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// answer prints a command's result as JSON or as lines. On a terminal, lists in the result follow as tables.
func (c *call) answer(f fields) error {
	if c.json {
		return c.printJSON(f)
	}
	var lists fields
	err := c.table(func(row func(cells ...any)) {
		for _, each := range f {
			if _, isList := each.value.([]fields); isList && c.terminal {
				lists = append(lists, each)
				continue
			}
			row(c.label(each), c.readable(each.value))
		}
	})
	for _, each := range lists {
		if err == nil {
			_, err = fmt.Fprintf(c.stdout, "\n%s\n", c.label(each))
		}
		if err == nil {
			err = c.list(each.name, each.value.([]fields))
		}
	}
	return err
}

// list prints rows with the same fields as a table or as JSON.
func (c *call) list(name string, rows []fields) error {
	if c.json {
		if rows == nil {
			rows = []fields{}
		}
		return c.printJSON(fields{{name, rows}})
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(c.stdout, "no %s\n", name)
		return err
	}
	return c.table(func(row func(cells ...any)) {
		var head []any
		for _, each := range rows[0] {
			head = append(head, strings.ToUpper(c.label(each)))
		}
		row(head...)
		for _, r := range rows {
			var cells []any
			for _, each := range r {
				cells = append(cells, c.readable(each.value))
			}
			row(cells...)
		}
	})
}

func (c *call) line(text string) error {
	_, err := fmt.Fprintln(c.stdout, text)
	return err
}

func (c *call) printJSON(v any) error { return printJSON(c.stdout, v) }

// printJSON writes a value as JSON with a line end. Unprintable characters, which a webhook receiver may have sent,
// are escaped, since terminals interpret some as commands.
func printJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	var out []byte
	for _, r := range text.String() {
		if r == '\n' || unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	_, err := w.Write(out)
	return err
}

func (c *call) table(fill func(row func(cells ...any))) error {
	const padding = 2
	w := tabwriter.NewWriter(c.stdout, 0, 0, padding, ' ', 0)
	fill(func(cells ...any) {
		for _, line := range linesOf(cells) {
			fmt.Fprintln(w, strings.Join(line, "\t")) // Flush returns an error of writing to the table.
		}
	})
	return w.Flush()
}

// linesOf returns the lines of a table's row: a cell with several lines continues in its column.
func linesOf(cells []any) [][]string {
	lines := [][]string{make([]string, len(cells))}
	for column, cell := range cells {
		text := printable(strings.ReplaceAll(strings.TrimSpace(fmt.Sprint(cell)), "\t", " "))
		for n, part := range strings.Split(text, "\n") {
			if n == len(lines) {
				lines = append(lines, make([]string, len(cells)))
			}
			lines[n][column] = strings.TrimSpace(part)
		}
	}
	return lines
}
