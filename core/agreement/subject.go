package agreement

import (
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/oneline"
	"partnerdeposits/core/zone"
)

// maxSubject is the number of characters that payment providers accept for the name of what is paid.
const maxSubject = 250

// PaymentSubject describes what a payment is for, on the provider's page and receipt.
type PaymentSubject struct {
	Captured bool
	Company  string
	From, To time.Time // The first and last day of the rental, in the time zone that the times carry.
}

// InLanguage returns the text of a payment's subject in the language of a locale. A long company name is cut.
func (s PaymentSubject) InLanguage(locale string) string {
	before, after := "Fee for the deposit of ", ", "+period(s.From, s.To, false)
	if s.Captured {
		before, after = "Claim of ", " on the deposit"+after
	}
	if isFrench(locale) {
		before, after = "Frais pour la caution de ", ", "+period(s.From, s.To, true)
		if s.Captured {
			before, after = "Réclamation de ", " sur la caution"+after
		}
	}
	company := []rune(oneline.Clean(s.Company))
	room := maxSubject - len([]rune(before+after))
	return before + string(company[:min(len(company), room)]) + after
}

// period formats a rental period: "25 Nov – 2 Dec 2026". The first day shows its year only if the years differ.
func period(from, to time.Time, french bool) string {
	first, last := shortDay(from, french), shortDay(to, french)
	if first == last {
		return last
	}
	if year := zone.InDisplayZone(from).Year(); year == zone.InDisplayZone(to).Year() {
		first = strings.TrimSuffix(first, " "+strconv.Itoa(year))
	}
	return first + " – " + last
}

// shortDay formats a day with ordinary spaces, since it appears on the payment provider's page.
func shortDay(at time.Time, french bool) string {
	return strings.ReplaceAll(date(at, shortMonths, french), noBreak, " ")
}
