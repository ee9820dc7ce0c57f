package agreement

import (
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/oneline"
	"partnerdeposits/core/zone"
)

// maxSubject is the number of characters that payment providers take for the name of what is paid.
const maxSubject = 250

// Subject is what a payment is for, as the provider's page and its receipt name it: the fee of a deposit, or a
// captured amount.
type Subject struct {
	Captured bool
	Company  string    // of the operator
	From, To time.Time // the rental period; its days are those of the time zone that the times carry
}

// In gives the name in the language of a locale, like Terms.Words. The company is cut where the name gets too long.
func (s Subject) In(locale string) string {
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

// period is two days: 25 Nov – 2 Dec 2026. The year of the first stands where it is another.
func period(from, to time.Time, french bool) string {
	first, last := shortDay(from, french), shortDay(to, french)
	if first == last {
		return last
	}
	if year := zone.Shown(from).Year(); year == zone.Shown(to).Year() {
		first = strings.TrimSuffix(first, " "+strconv.Itoa(year))
	}
	return first + " – " + last
}

// shortDay has blanks that may break: a provider's page is no text of ours.
func shortDay(at time.Time, french bool) string {
	return strings.ReplaceAll(date(at, shortMonths, french), noBreak, " ")
}
