package checkout

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/deposit"
)

// debtView is the data of the page of a captured deposit.
type debtView struct {
	Page    ui.Page
	View    checkout.View
	Lang    ui.Lang
	Path    string
	Token   string // CSRF token of the form
	Message string
	Notice  string
	Facts   []fact
	Next    string // what happens next; "": nothing
	Objects bool   // there is something left to object to
	Button  string // "": nothing can be paid now
	Back    returnLink
}

// fact is a line about a claim.
type fact struct{ Name, Value string }

func (p *pages) renderDebt(c *fiber.Ctx, v checkout.View, page ui.Page) error {
	lang := page.Lang
	page.Title = debtTitle(v).In(lang)
	d := debtView{
		Page: page, View: v, Lang: lang, Path: pagePath(c), Message: finalMessage(v, lang), Back: returnLinkOf(v),
		Facts: debtFacts(v, lang), Next: debtNext(v, lang), Objects: !endedByOperator(v),
	}
	if v.Payable() {
		d.Token, d.Button = p.Site.FormToken(c), textPay.In(lang, ui.Euros(lang, v.Deposit.CapturedAmount))
		if c.Query(queryNotice) == noticeUnpaid {
			d.Notice = textUnpaid.In(lang)
		}
	}
	return ui.Render(c, fiber.StatusOK, debtPage(d))
}

// debtFacts tell what was claimed and when it is or was paid, as far as that is known.
func debtFacts(v checkout.View, lang ui.Lang) (out []fact) {
	if text, ok := captureReasons[v.Reason]; ok {
		out = append(out, fact{textDebtReason.In(lang), text.In(lang)})
	}
	if v.Words != "" {
		out = append(out, fact{textDebtWords.In(lang, v.CompanyName), v.Words})
	}
	switch {
	case !v.Debt.NextAttemptAt.IsZero():
		out = append(out, fact{textDebtCharged.In(lang), ui.LongDate(lang, v.Debt.NextAttemptAt)})
	case v.Debt.State == deposit.CollectionPaid:
		out = append(out, fact{textDebtPaidOn.In(lang), ui.LongDate(lang, v.Debt.EndedAt)})
	case v.Payable():
		last := v.Debt.CapturedAt.Add(deposit.UnpaidFor)
		out = append(out, fact{textDebtPayUntil.In(lang), ui.LongDate(lang, last)})
	}
	return out
}

// debtNext tells what happens next; "" for nothing.
func debtNext(v checkout.View, lang ui.Lang) string {
	switch {
	case v.Debt.State.Final(), !v.Debt.CancelAt.IsZero():
		return ""
	case v.Payable():
		return textDebtMailed.In(lang)
	}
	return textDebtIfRefused.In(lang) + " " + textDebtMailed.In(lang)
}

func debtTitle(v checkout.View) ui.Text {
	switch {
	case v.Debt.State == deposit.CollectionPaid:
		return textDebtPaid
	case v.Payable():
		return textDebtOpen
	case endedByOperator(v):
		return textDebtNothingDue
	}
	return textCaptured
}

// endedByOperator reports whether the operator ended the claim without payment.
func endedByOperator(v checkout.View) bool {
	return v.Debt.State == deposit.CollectionFailed && deposit.CollectionTrigger(v.Debt.Failure).EndedByOperator()
}

// debtMessage is a sentence about the debt, behind the one that tells of the claim.
func debtMessage(v checkout.View, lang ui.Lang) string {
	if v.Debt == nil {
		return ""
	}
	text := textDebtScheduled
	switch {
	case endedByOperator(v) && v.Debt.Failure == string(deposit.SettledElsewhere):
		return " " + textDebtSettled.In(lang, v.CompanyName)
	case endedByOperator(v):
		return " " + textDebtWithdrawn.In(lang, v.CompanyName)
	case v.Debt.State == deposit.CollectionPaid:
		text = textDebtIsPaid
	case v.Debt.State == deposit.CollectionFailed, !v.Debt.CancelAt.IsZero():
		text = textDebtOver
	case v.Payable():
		text = textDebtRefused
	case v.Debt.State == deposit.CollectionRetrying:
		text = textDebtRetrying
	}
	return " " + text.In(lang)
}
