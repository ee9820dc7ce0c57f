package dashboard

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
)

func (p *pages) showClaim(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	if err := deposits.ActCapture.CheckPossible(v.Deposit, v.Debt, v.Now); err != nil {
		ui.SetLanguageLinkPath(c, depositPath(v.ID))
		return p.conflict(c, by, v, err)
	}
	if p.Operators.HasUnverifiedEmail(by.Operator) {
		return p.unverified(c, by)
	}
	var sent actForm
	if p.restored(c, by, claimPath(v.ID)) {
		sent = p.actFormOf(c, v)
		sent.restored, sent.mistakes = true, nil
	}
	return p.renderClaim(c, by, http.StatusOK, v, sent)
}

// renderClaim renders the form to claim an amount. sent is a form whose texts are shown again, after mistakes or
// the session's end.
func (p *pages) renderClaim(c *fiber.Ctx, by caller, status int, v desk.DepositView, sent actForm) error {
	lang := ui.LangOf(c)
	view := p.viewOf(c, by, v, sent, textClaimTitle.In(lang))
	view.Limits = textClaimLimits.In(lang, ui.Euros(lang, p.Deposits.MinCapturableAmount()), ui.Euros(lang, v.Amount))
	return ui.Render(c, status, claimPage(view))
}

func (p *pages) renderMistakes(c *fiber.Ctx, by caller, v desk.DepositView, f actForm) error {
	if f.intent != intentCapture {
		return p.renderDeposit(c, by, http.StatusUnprocessableEntity, v, f, "")
	}
	if err := f.act().CheckPossible(v.Deposit, v.Debt, v.Now); err != nil {
		return p.conflict(c, by, v, err)
	}
	return p.renderClaim(c, by, http.StatusUnprocessableEntity, v, f)
}

type claimMail struct{ Title, To, Lang, Subject, Text string }

// langOf returns the HTML attribute lang; nil for a text in several languages.
func langOf(tag string) templ.Attributes {
	if tag == "" {
		return nil
	}
	return templ.Attributes{"lang": tag}
}

// ticked returns a checkbox's form value: Checked, or "" if not ticked.
func ticked(is bool) string {
	if is {
		return ui.CheckboxCheckedValue
	}
	return ""
}

// askToClaim fills the page that asks to confirm a claim, with a preview of the mail to the tenant.
func (p *pages) askToClaim(view *confirmView, by caller, v desk.DepositView, f actForm, lang ui.Lang) {
	view.Facts = []fact{{Name: textAmount.In(lang), Value: ui.Euros(lang, f.amount)},
		{Name: textReason.In(lang), Value: textNoReason.In(lang)}}
	if f.reason != "" {
		view.Facts[1].Value = reasons[f.reason].In(lang)
	}
	if f.description != "" {
		view.Facts = append(view.Facts, fact{Name: textYourWords.In(lang), Value: f.description})
	}
	mail, mailed := p.Deposits.PreviewCaptureMail(by, v.Deposit, v.Agreed.Locale,
		deposits.CaptureRequest{DepositID: v.ID, Amount: &f.amount, Reason: f.reason, Description: f.description})
	if !mailed {
		view.Mail = &claimMail{Title: textNoMail.In(lang)}
		return
	}
	view.Mail = &claimMail{Title: textMailPreview.In(lang), To: textMailTo.In(lang, mail.To), Lang: mail.Language,
		Subject: mail.Subject, Text: mail.Body}
}
