package dashboard

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
)

// showClaim shows the page on which an amount of a deposit is claimed. Its form is sent to the deposit (act).
func (p *pages) showClaim(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	if err := deposits.ActCapture.Possible(v.Deposit, v.Debt, v.Now); err != nil {
		ui.SetReadAt(c, depositPath(v.ID))
		return p.conflict(c, by, v, err)
	}
	if p.Operators.Unverified(by.Operator) {
		return p.unverified(c, by)
	}
	var sent actForm
	if p.restored(c, by, claimPath(v.ID)) {
		sent = p.actFormOf(c, v)
		sent.restored, sent.mistakes = true, nil
	}
	return p.renderClaim(c, by, http.StatusOK, v, sent)
}

// renderClaim renders the page of a claim. sent is a form with mistakes, or one that met an ended session.
func (p *pages) renderClaim(c *fiber.Ctx, by caller, status int, v desk.View, sent actForm) error {
	lang := ui.LangOf(c)
	view := p.viewOf(c, by, v, sent, textClaimTitle.In(lang))
	view.Limits = textClaimLimits.In(lang, ui.Euros(lang, p.Deposits.LeastCapture()), ui.Euros(lang, v.Amount))
	return ui.Render(c, status, claimPage(view))
}

// renderMistakes renders the page of a form with its mistakes.
func (p *pages) renderMistakes(c *fiber.Ctx, by caller, v desk.View, f actForm) error {
	if f.intent != intentCapture {
		return p.renderDeposit(c, by, http.StatusUnprocessableEntity, v, f, "")
	}
	if err := f.act().Possible(v.Deposit, v.Debt, v.Now); err != nil {
		return p.conflict(c, by, v, err)
	}
	return p.renderClaim(c, by, http.StatusUnprocessableEntity, v, f)
}

// claimMail shows the mail that the tenant gets, on the page that asks once more before a claim.
type claimMail struct{ Title, To, Lang, Subject, Text string }

// langOf names the language of a part of a page; "" for several.
func langOf(tag string) templ.Attributes {
	if tag == "" {
		return nil
	}
	return templ.Attributes{"lang": tag}
}

// ticked is the value of a checkbox.
func ticked(is bool) string {
	if is {
		return ui.Checked
	}
	return ""
}

// askToClaim fills the page that asks once more before a claim with what the tenant reads.
func (p *pages) askToClaim(view *confirmView, by caller, v desk.View, f actForm, lang ui.Lang) {
	view.Facts = []fact{{Name: textAmount.In(lang), Value: ui.Euros(lang, f.amount)},
		{Name: textReason.In(lang), Value: textNoReason.In(lang)}}
	if f.reason != "" {
		view.Facts[1].Value = reasons[f.reason].In(lang)
	}
	if f.description != "" {
		view.Facts = append(view.Facts, fact{Name: textYourWords.In(lang), Value: f.description})
	}
	mail, mailed := p.Deposits.CaptureMail(by, v.Deposit, v.Agreed.Locale,
		deposits.CaptureRequest{DepositID: v.ID, Amount: &f.amount, Reason: f.reason, Description: f.description})
	if !mailed {
		view.Mail = &claimMail{Title: textNoMail.In(lang)}
		return
	}
	view.Mail = &claimMail{Title: textMailPreview.In(lang), To: textMailTo.In(lang, mail.To), Lang: mail.Language,
		Subject: mail.Subject, Text: mail.Body}
}
