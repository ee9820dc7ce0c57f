package checkout

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/deposit"
)

// debtView is the data of the tenant's page about a captured deposit.
type debtView struct {
	Page    ui.Page
	View    checkout.View
	Lang    ui.Lang
	Path    string
	Token   string // The CSRF token of the form.
	Message string
	Notice  string
	Facts   []fact
	// A sentence that tells the tenant what happens next with the claimed amount; "" shows none.
	Next    string
	Objects bool // True if the tenant can still object to the claim; false if the operator ended it.
	// Text of the button by which the tenant pays the claimed amount; "" if nothing can be paid now.
	Button string
	Back   returnLink
}

// fact is a line about a claim on the tenant's page, with its label.
type fact struct{ Name, Value string }

func (p *pages) renderDebt(c *fiber.Ctx, v checkout.View, page ui.Page) error {
	lang := page.Lang
	page.Title = debtTitle(v).In(lang)
	d := debtView{
		Page: page, View: v, Lang: lang, Path: pagePath(c), Message: finalMessage(v, lang), Back: returnLinkOf(v),
		Facts: debtFacts(v, lang), Next: debtNext(v, lang), Objects: !endedByOperator(v),
	}
	if v.DebtPayable() {
		d.Token, d.Button = p.Site.FormToken(c), textPay.In(lang, ui.Euros(lang, v.Deposit.CapturedAmount))
		if c.Query(queryNotice) == noticeUnpaid {
			d.Notice = textUnpaid.In(lang)
		}
	}
	return ui.Render(c, fiber.StatusOK, debtPage(d))
}

// debtFacts returns the lines of the tenant's page that show why an amount was claimed, and when it was or must be
// paid.
func debtFacts(v checkout.View, lang ui.Lang) (out []fact) {
	if text, ok := captureReasons[v.Reason]; ok {
		out = append(out, fact{textDebtReason.In(lang), text.In(lang)})
	}
	if v.Words != "" {
		out = append(out, fact{textDebtWords.In(lang, v.CompanyName), v.Words})
	}
	switch {
	case !v.Debt.NextAttemptAt.IsZero():
		out = append(out, fact{textDebtCharged.In(lang), ui.FormatLongDate(lang, v.Debt.NextAttemptAt)})
	case v.Debt.State == deposit.CollectionPaid:
		out = append(out, fact{textDebtPaidOn.In(lang), ui.FormatLongDate(lang, v.Debt.EndedAt)})
	case v.DebtPayable():
		last := v.Debt.CapturedAt.Add(deposit.DebtExpiresAfter)
		out = append(out, fact{textDebtPayUntil.In(lang), ui.FormatLongDate(lang, last)})
	}
	return out
}

// debtNext returns the sentence on what happens next with a claim; "" if nothing does.
func debtNext(v checkout.View, lang ui.Lang) string {
	switch {
	case v.Debt.State.Final(), !v.Debt.CancelAt.IsZero():
		return ""
	case v.DebtPayable():
		return textDebtMailed.In(lang)
	}
	return textDebtIfRefused.In(lang) + " " + textDebtMailed.In(lang)
}

func debtTitle(v checkout.View) ui.LocalizedText {
	switch {
	case v.Debt.State == deposit.CollectionPaid:
		return textDebtPaid
	case v.DebtPayable():
		return textDebtOpen
	case endedByOperator(v):
		return textDebtNothingDue
	}
	return textCaptured
}

// endedByOperator reports whether the operator ended the claim without payment: true for a claim withdrawn or
// settled in another way, otherwise false.
func endedByOperator(v checkout.View) bool {
	return v.Debt.State == deposit.CollectionFailed && deposit.CollectionTrigger(v.Debt.Failure).EndedByOperator()
}

// debtMessage returns a sentence about the payment of a claim. It follows the sentence that names the claimed
// amount.
func debtMessage(v checkout.View, lang ui.Lang) string {
	if v.Debt == nil {
		return ""
	}
	text := textDebtScheduled
	switch {
	case endedByOperator(v) && v.Debt.Failure == string(deposit.CollectionTriggerSettledElsewhere):
		return " " + textDebtSettled.In(lang, v.CompanyName)
	case endedByOperator(v):
		return " " + textDebtWithdrawn.In(lang, v.CompanyName)
	case v.Debt.State == deposit.CollectionPaid:
		text = textDebtIsPaid
	case v.Debt.State == deposit.CollectionFailed, !v.Debt.CancelAt.IsZero():
		text = textDebtOver
	case v.DebtPayable():
		text = textDebtRefused
	case v.Debt.State == deposit.CollectionRetrying:
		text = textDebtRetrying
	}
	return " " + text.In(lang)
}
