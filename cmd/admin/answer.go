package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"partnerdeposits/core/deposit"
)

// fields is a JSON object that keeps the documented order of its fields, also as lines for people.
type fields []field

type field struct {
	name  string
	value any
}

// MarshalJSON keeps the order.
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

// answer prints an object.
func (c *call) answer(f fields) error {
	if c.json {
		return c.printJSON(f)
	}
	return c.table(func(row func(cells ...any)) {
		for _, each := range f {
			row(each.name, readable(each.value))
		}
	})
}

// list prints rows with the same fields: as a table, or as a JSON object with an array.
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
			head = append(head, strings.ToUpper(each.name))
		}
		row(head...)
		for _, r := range rows {
			var cells []any
			for _, each := range r {
				cells = append(cells, readable(each.value))
			}
			row(cells...)
		}
	})
}

func (c *call) printJSON(v any) error {
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (c *call) table(fill func(row func(cells ...any))) error {
	const padding = 2
	w := tabwriter.NewWriter(c.stdout, 0, 0, padding, ' ', 0)
	fill(func(cells ...any) {
		for _, line := range linesOf(cells) {
			fmt.Fprintln(w, strings.Join(line, "\t")) // Flush returns the error
		}
	})
	return w.Flush()
}

// linesOf gives the lines of a row: a text of several lines continues in its own column.
func linesOf(cells []any) [][]string {
	lines := [][]string{make([]string, len(cells))}
	for column, cell := range cells {
		text := strings.ReplaceAll(strings.TrimSpace(fmt.Sprint(cell)), "\t", " ")
		for n, part := range strings.Split(text, "\n") {
			if n == len(lines) {
				lines = append(lines, make([]string, len(cells)))
			}
			lines[n][column] = strings.TrimSpace(part)
		}
	}
	return lines
}

func readable(v any) any {
	switch v := v.(type) {
	case nil:
		return "–"
	case *string:
		if v == nil {
			return "–"
		}
		return *v
	case []string:
		return strings.Join(v, ", ")
	case []fields:
		lines := make([]string, len(v))
		for i, f := range v {
			var words []string
			for _, each := range f {
				words = append(words, fmt.Sprint(readable(each.value)))
			}
			lines[i] = strings.Join(words, " ")
		}
		return strings.Join(lines, "; ")
	}
	return v
}

// at is a time in the API's form; nil for the zero time.
func at(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := deposit.Timestamp(t)
	return &s
}
