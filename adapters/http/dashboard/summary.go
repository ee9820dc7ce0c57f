package dashboard

import (
	"strconv"
	"strings"
	"time"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
)

// titleOf returns the title of a deposit's page: the tenant's name, or that there is none or it is erased.
func titleOf(v desk.DepositView, lang ui.Lang) string {
	switch {
	case v.Client != nil:
		return tenantOf(v.Deposit)
	case v.ClientID.IsZero():
		return textNoTenant.In(lang)
	}
	return textErased.In(lang)
}

func sumOf(v desk.DepositView, lang ui.Lang) string {
	parts := []string{ui.Euros(lang, v.Amount),
		shortSpan(ui.FormatDate(lang, v.ContractStartAt), ui.FormatDate(lang, v.ContractEndAt))}
	switch {
	case v.Status == deposit.Active:
		parts = append(parts, textSecuredUntil.In(lang, ui.FormatDate(lang, v.CoverEnd)))
	case v.Status.InCheckout():
		parts = append(parts, textNotSecured.In(lang))
	case v.Status == deposit.Captured:
		parts = append(parts, textSumClaimed.In(lang, ui.Euros(lang, v.CapturedAmount)))
	}
	return strings.Join(parts, " · ")
}

// shortSpan joins two formatted days without repeating a shared month and year; a day's parts are joined by
// no-break spaces.
func shortSpan(first, last string) string {
	if first == last {
		return first
	}
	a, b := strings.Split(first, "\u00a0"), strings.Split(last, "\u00a0")
	n := len(a)
	for n > 1 && a[n-1] == b[n-1] {
		n--
	}
	return ui.FormatDateSpan(strings.Join(a[:n], "\u00a0"), last)
}

// stayBar is a drawing of a stay and its cover on a time line, in units of its view box.
type stayBar struct {
	Stay, Cover     stretch
	Today           string // Horizontal position of today on the time line; "" if outside it.
	First, Last     string // First and last day of the stay and cover, below the time line.
	StayIs, CoverIs string
}

type stretch struct{ X, Width string }

// stayWidth is the width of the time line, in units of its view box.
const stayWidth = 1000

// barOf draws a deposit's stay and cover; before the tenant pays, the cover that a payment now would begin. nil
// once the deposit is over.
func barOf(v desk.DepositView, lang ui.Lang) *stayBar {
	covered := v.ActivatedAt
	switch {
	case v.Status.InCheckout():
		covered = v.Now
	case v.Status != deposit.Active:
		return nil
	}
	first, last := v.ContractStartAt, v.ContractEndAt
	if covered.Before(first) {
		first = covered
	}
	if v.CoverEnd.After(last) {
		last = v.CoverEnd
	}
	at := func(t time.Time) int {
		return int(stayWidth * t.Sub(first).Seconds() / max(last.Sub(first).Seconds(), 1))
	}
	part := func(from, to time.Time) stretch {
		return stretch{strconv.Itoa(at(from)), strconv.Itoa(max(at(to)-at(from), 1))}
	}
	b := &stayBar{Stay: part(v.ContractStartAt, v.ContractEndAt), Cover: part(covered, v.CoverEnd),
		First: ui.FormatDate(lang, first), Last: ui.FormatDate(lang, last), StayIs: textStay.In(lang),
		CoverIs: textCover.In(lang)}
	if v.Status != deposit.Active {
		b.CoverIs = textCoverPlanned.In(lang)
	}
	if !v.Now.Before(first) && !v.Now.After(last) {
		b.Today = strconv.Itoa(at(v.Now))
	}
	return b
}
