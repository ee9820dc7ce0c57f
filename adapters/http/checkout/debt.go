package checkout

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/deposit"
)

type debtView struct {
	Page    ui.Page
	View    checkout.View
	Lang    ui.Lang
	Path    string
	Token   string
	Message string
	Notice  string
	Facts   []fact
	// Sentence on what happens next with the claimed amount; "" for none.
	Next    string
	Objects bool // Whether the tenant can still object to the claim.
	// Text of the button that pays the claimed amount; "" if nothing can be paid now.
	Button string
	Back   returnLink
}

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

// endedByOperator reports whether the operator withdrew the claim or settled it in another way.
func endedByOperator(v checkout.View) bool {
	return v.Debt.State == deposit.CollectionFailed && deposit.CollectionTrigger(v.Debt.Failure).EndedByOperator()
}

// debtMessage returns the sentence about the payment of a claim, which follows the sentence with the claim's
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
