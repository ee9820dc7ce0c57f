package ui

import (
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/money"
	"partnerdeposits/core/zone"
)

const noBreak = "\u00a0" // No-break spaces keep a formatted amount or date on one line.

// FormatNumber formats a whole number, zero or greater: 1,000 in English, 1 000 in French.
func FormatNumber(l Lang, n int64) string {
	whole, group := strconv.FormatInt(n, 10), ","
	if l == French {
		group = noBreak
	}
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(group)
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// Euros formats an amount of money: €1,250.00 or 1 250,00 €; a negative one with a minus sign.
func Euros(l Lang, c money.Cents) string {
	if c < 0 {
		return "−" + Euros(l, -c)
	}
	whole, cents := FormatNumber(l, int64(c/100)), strconv.FormatInt(int64(c%100)+100, 10)[1:]
	if l == French {
		return whole + "," + cents + noBreak + "€"
	}
	return "€" + whole + "." + cents
}

// FormatPercent formats basis points as a percentage: 3.5 % or 3,5 %.
func FormatPercent(l Lang, basisPoints int) string {
	text := strconv.FormatFloat(float64(basisPoints)/100, 'f', -1, 64)
	if l == French {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text + noBreak + "%"
}

var months = map[Lang][12]string{
	English: {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	French:  {"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
}

var longMonths = map[Lang][12]string{
	English: {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
		"December"},
	French: {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
		"décembre"},
}

// FormatLongDate formats a day, in the time zone of t, with the full month name: 1 June 2026 or 1er juin 2026.
func FormatLongDate(l Lang, t time.Time) string {
	t = zone.InDisplayZone(t)
	return dayOf(l, t) + noBreak + longMonths[l][t.Month()-1] + noBreak + strconv.Itoa(t.Year())
}

// dayOf returns the day of the month; in French the first is an ordinal.
func dayOf(l Lang, t time.Time) string {
	if l == French && t.Day() == 1 {
		return "1er"
	}
	return strconv.Itoa(t.Day())
}

// FormatDate formats a day, in the time zone of t, with a short month name: 1 Aug 2026.
func FormatDate(l Lang, t time.Time) string {
	t = zone.InDisplayZone(t)
	return dayOf(l, t) + noBreak + months[l][t.Month()-1] + noBreak + strconv.Itoa(t.Year())
}

// FormatDateSpan joins two formatted days with a dash; equal days become one.
func FormatDateSpan(first, last string) string {
	if first == last {
		return first
	}
	return first + " – " + last
}

func FormatDateTime(l Lang, t time.Time) string {
	return FormatDate(l, t) + ", " + strings.Replace(zone.FormatTime(t), " ", noBreak, 1)
}

func FormatShortMonth(l Lang, t time.Time) string { return months[l][zone.InDisplayZone(t).Month()-1] }

func FormatMonthYear(l Lang, t time.Time) string {
	t = zone.InDisplayZone(t)
	return longMonths[l][t.Month()-1] + noBreak + strconv.Itoa(t.Year())
}

// FormatFileSize formats the size of a file: 320 KB, 2.1 MB. A kilobyte has 1024 bytes.
func FormatFileSize(l Lang, n int64) string {
	unit, mega, point := "KB", "MB", "."
	if l == French {
		unit, mega, point = "Ko", "Mo", ","
	}
	if n < 1<<20 {
		return strconv.FormatInt(max(1, (n+512)>>10), 10) + noBreak + unit
	}
	tenths := (n*10 + 1<<19) >> 20
	return strconv.FormatInt(tenths/10, 10) + point + strconv.FormatInt(tenths%10, 10) + noBreak + mega
}
