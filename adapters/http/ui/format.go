package ui

import (
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/money"
)

const noBreak = "\u00a0" // keeps an amount on a single line

// Euros formats an amount for the language: €1,250.00 or 1 250,00 €.
func Euros(l Lang, c money.Cents) string {
	whole, cents := strconv.FormatInt(int64(c/100), 10), strconv.FormatInt(int64(c%100)+100, 10)[1:]
	group, point := ",", "."
	if l == French {
		group, point = noBreak, ","
	}
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(group)
		}
		b.WriteRune(digit)
	}
	if l == French {
		return b.String() + point + cents + noBreak + "€"
	}
	return "€" + b.String() + point + cents
}

var months = map[Lang][12]string{
	English: {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	French:  {"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
}

// Date formats the day of t in UTC.
func Date(l Lang, t time.Time) string {
	t = t.UTC()
	return strconv.Itoa(t.Day()) + noBreak + months[l][t.Month()-1] + noBreak + strconv.Itoa(t.Year())
}
