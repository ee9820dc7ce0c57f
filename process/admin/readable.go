package admin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
)

// shownTime is a time in a command's output: in the API's format in JSON and in pipes, and in local time with its
// distance from now on a terminal. Zero is printed as none.
type shownTime time.Time

func at(t time.Time) shownTime { return shownTime(t) }

// MarshalJSON encodes the time in the API's format; null for zero.
func (i shownTime) MarshalJSON() ([]byte, error) {
	if time.Time(i).IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(deposit.FormatTimestamp(time.Time(i)))
}

// cents is an amount in a command's output: cents in JSON and in pipes, euros on a terminal.
type cents money.Cents

type pairs map[string]string

const none = "–"

func (c *call) readable(v any) any {
	switch v := v.(type) {
	case nil:
		return none
	case *string:
		if v == nil {
			return none
		}
		return *v
	case shownTime:
		return c.readableTime(time.Time(v))
	case cents:
		if c.terminal {
			return money.Cents(v).String() + " EUR"
		}
		return int64(v)
	case []string:
		return strings.Join(v, ", ")
	case pairs:
		return v.readable()
	case []fields:
		lines := make([]string, len(v))
		for i, f := range v {
			var words []string
			for _, each := range f {
				words = append(words, fmt.Sprint(c.readable(each.value)))
			}
			lines[i] = strings.Join(words, " ")
		}
		return strings.Join(lines, "; ")
	}
	return v
}

func (p pairs) readable() string {
	lines := make([]string, 0, len(p))
	for name, value := range p {
		lines = append(lines, name+"="+strings.ReplaceAll(value, "\n", " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (c *call) readableTime(t time.Time) string {
	switch {
	case t.IsZero():
		return none
	case !c.terminal:
		return deposit.FormatTimestamp(t)
	}
	return c.clock(t) + " (" + distance(t.Sub(c.now)) + ")"
}

// clock formats a time in this machine's time zone.
func (c *call) clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") }

// distance formats how far a time is from now, in the largest unit of which it has at least two.
func distance(d time.Duration) string {
	const day = 24 * time.Hour
	amount := ""
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{day, "days"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d.Abs() >= 2*unit.length {
			amount = fmt.Sprintf("%d %s", d.Abs()/unit.length, unit.name)
			break
		}
	}
	switch {
	case amount == "" && d.Abs() < 2*time.Second:
		return "now"
	case amount == "":
		amount = fmt.Sprintf("%d s", d.Abs()/time.Second)
	}
	if d > 0 {
		return "in " + amount
	}
	return amount + " ago"
}

// label returns an output field's name as people read it on a terminal: "max amount" for maxAmountCents.
func (c *call) label(f field) string {
	if !c.terminal {
		return f.name
	}
	name := f.name
	if _, isAmount := f.value.(cents); isAmount {
		name = strings.TrimSuffix(name, "Cents")
	}
	var words strings.Builder
	for _, letter := range name {
		if unicode.IsUpper(letter) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(letter))
	}
	return words.String()
}

// printable replaces characters that a terminal interprets as commands, since webhook receivers may have sent the
// text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
