package checkout

import (
	"strconv"
	"strings"
	"time"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/money"
)

// euros formats an amount for the language: €2,500.00 or 2 500,00 €.
func euros(c money.Cents, lang ui.Lang) string {
	whole, fraction, _ := strings.Cut(c.String(), ".")
	if lang == ui.French {
		return grouped(whole, "\u202f") + "," + fraction + "\u00a0€"
	}
	return "€" + grouped(whole, ",") + "." + fraction
}

func grouped(digits, separator string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + separator + digits[i:]
	}
	return digits
}

var frenchMonths = [...]string{
	"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre",
}

// date formats the day of t in UTC: 15 June 2026 or 15 juin 2026.
func date(t time.Time, lang ui.Lang) string {
	t = t.UTC()
	if lang != ui.French {
		return t.Format("2 January 2006")
	}
	day := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		day = "1er"
	}
	return day + " " + frenchMonths[t.Month()-1] + " " + strconv.Itoa(t.Year())
}

// period formats the first and the last day; a single day if both are the same.
func period(from, to time.Time, lang ui.Lang) string {
	first, last := date(from, lang), date(to, lang)
	if first == last {
		return first
	}
	return first + " – " + last
}
