package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/twofactor"
	ports "partnerdeposits/ports/platform"
)

// act handles the forms on a deposit's page: it shows mistakes, asks for confirmation, or performs the confirmed
// act.
func (p *pages) act(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	path := depositPath(v.ID)
	ui.SetLanguageLinkPath(c, path)
	var sent *upload
	if body := middleware.UploadBodyOf(c); body != nil {
		sent, err = p.readUpload(c, by, v, body)
		defer sent.close()
		if err != nil {
			return p.uploadRefused(c, by, v, err)
		}
	} else if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, path)
	}
	return p.actOn(c, by, v, sent)
}

// actOn handles a form on a deposit's page after the CSRF check. sent holds the form's files; nil for a form
// without files.
func (p *pages) actOn(c *fiber.Ctx, by caller, v desk.DepositView, sent *upload) error {
	f := p.actFormOf(c, v)
	if f.intent == "" {
		return c.Redirect(depositPath(v.ID), http.StatusSeeOther)
	}
	checked, err := p.fileMistakes(c, sent, &f)
	if err != nil {
		return err
	}
	defer checked.Close()
	if f.intent == intentAddFiles && len(f.mistakes) == 0 && checked.Len()+len(f.waiting) == 0 {
		f.refuse(ui.LangOf(c), refusedFile{Code: noFile})
	}
	if len(f.mistakes) > 0 {
		f.lostFiles = checked.Len() > 0
		return p.ask(c, by, v, f, "")
	}
	if f.act().NeedsVerifiedEmail() && p.Operators.HasUnverifiedEmail(by.Operator) {
		return p.unverified(c, by)
	}
	if ui.PostValue(c, fieldConfirm) != confirmed {
		if err := f.act().CheckPossible(v.Deposit, v.Debt, v.Now); err != nil {
			return p.conflict(c, by, v, err)
		}
	}
	if err := p.keep(c, v, &f, checked); err != nil {
		return err
	}
	if ui.PostValue(c, fieldConfirm) != confirmed {
		return p.ask(c, by, v, f, "")
	}
	return p.answer(c, by, v, f, p.run(c, by, v, f))
}

func (p *pages) run(c *fiber.Ctx, by caller, v desk.DepositView, f actForm) error {
	ctx := c.UserContext()
	form := deposits.ActForm{DepositID: v.ID, Version: f.version, Key: f.form}
	if form.Version == 0 {
		form.Version = v.Version
	}
	files := deposits.FilesToAdd{From: f.sender, IDs: f.waiting}
	switch f.intent {
	case intentCapture:
		request := deposits.CaptureRequest{DepositID: v.ID, Amount: &f.amount, Reason: f.reason, Description: f.description,
			Files: files}
		return p.Deposits.CaptureByOperator(ctx, by, form, request,
			deposits.TwoFactorProof{Code: ui.PostValue(c, fieldCode), Network: ui.NetworkOfIP(c.IP())})
	case intentAddFiles:
		return p.Deposits.AddFilesByOperator(ctx, by, form, files)
	case intentRelease:
		return p.Deposits.ReleaseByOperator(ctx, by, form, f.comment)
	case intentCancel:
		return p.Deposits.CancelByOperator(ctx, by, form, f.comment)
	case intentRemind:
		if err := p.limited(c, by, operators.LinkMailRateLimit); err != nil {
			return err
		}
		return p.Deposits.RemindByOperator(ctx, by, form)
	case intentSettled, intentWithdraw:
		return p.Deposits.EndDebtByOperator(ctx, by, form, f.act())
	default:
		if err := p.limited(c, by, operators.LinkMailRateLimit); err != nil {
			return err
		}
		return p.Deposits.SendLinkByOperator(ctx, by, form, tenant.MailContact{Email: f.email})
	}
}

// answer responds after an act on a deposit: with the deposit, or with the reason of a refusal.
func (p *pages) answer(c *fiber.Ctx, by caller, v desk.DepositView, f actForm, err error) error {
	done := depositPath(v.ID) + "?" + queryDone + "=" + f.intent
	switch {
	case errors.Is(err, connect.ErrEmailUnverified):
		return p.unverified(c, by)
	case err == nil:
		p.dropDraft(c, by, f.form)
		return c.Redirect(done, http.StatusSeeOther)
	// Another request with the same form is still running; the deposit's page will show its result.
	case errors.Is(err, ports.ErrIdempotencyKeyInUse):
		return c.Redirect(done, http.StatusSeeOther)
	case errors.Is(err, twofactor.ErrWrongCode):
		return p.ask(c, by, v, f, twofactor.ErrWrongCode.Code)
	case errors.Is(err, deposit.ErrCaptureExceedsAmount):
		f.mistakes = []ui.Mistake{{Field: intentCapture + "-" + fieldAmount, Text: textBadAmount.In(ui.LangOf(c),
			ui.Euros(ui.LangOf(c), p.Deposits.MinCapturableAmount()), ui.Euros(ui.LangOf(c), v.Amount))}}
		return p.renderMistakes(c, by, v, f)
	case errors.Is(err, ports.ErrIdempotencyKeyReused), fault.KindOf(err) == fault.Conflict:
		fresh, failed := p.Desk.FindDeposit(c.UserContext(), by.Account, v.ID)
		if failed != nil {
			return failed
		}
		return p.conflict(c, by, fresh, err)
	default:
		return err
	}
}

// actFormOf parses a form of a deposit's page and collects its mistakes. An unknown intent becomes "".
func (p *pages) actFormOf(c *fiber.Ctx, v desk.DepositView) actForm {
	lang := ui.LangOf(c)
	f := actForm{
		intent: ui.PostValue(c, fieldIntent), amountText: strings.TrimSpace(ui.PostValue(c, fieldAmount)),
		reason:      ui.PostValue(c, fieldReason),
		description: lines(ui.PostValue(c, fieldDescription)), comment: lines(ui.PostValue(c, fieldComment)),
		email: strings.TrimSpace(ui.PostValue(c, fieldEmail)),
	}
	if !slices.Contains(deposits.OperatorActs, f.act()) {
		return actForm{}
	}
	f.version, _ = strconv.Atoi(ui.PostValue(c, fieldVersion))
	f.form = p.formID(c)
	if f.takesFiles() {
		f.waiting = waitingOf(c)
	}
	mistake := func(field string, text ui.LocalizedText, args ...any) {
		f.mistakes = append(f.mistakes, ui.Mistake{Field: f.intent + "-" + field, Text: text.In(lang, args...)})
	}
	switch f.intent {
	case intentCapture:
		p.readAmount(c, v, &f, mistake)
		if f.reason != "" && !slices.Contains(deposit.CaptureReasons, f.reason) {
			mistake(fieldReason, textBadReason)
		}
		if !textual(f.description, deposit.MaxDescriptionLength) {
			mistake(fieldDescription, textBadWords, deposit.MaxDescriptionLength)
		}
	case intentAddFiles, intentRemind, intentSettled, intentWithdraw:
	case intentSendLink:
		if (tenant.MailContact{Email: f.email}).Validate("") != nil {
			mistake(fieldEmail, textBadEmail)
		}
	default:
		if !textual(f.comment, deposit.MaxCommentLength) {
			mistake(fieldComment, textBadWords, deposit.MaxCommentLength)
		}
	}
	return f
}

// readAmount parses the amount of a claim. On the claim page the whole amount needs a ticked box; in a form
// without that box an empty amount means the whole one.
func (p *pages) readAmount(c *fiber.Ctx, v desk.DepositView, f *actForm, mistake func(string, ui.LocalizedText,
	...any)) {
	lang, least := ui.LangOf(c), p.Deposits.MinCapturableAmount()
	asked := c.Request().PostArgs().Has(fieldWhole)
	for _, value := range c.Request().PostArgs().PeekMulti(fieldWhole) {
		f.whole = f.whole || string(value) == ui.CheckboxCheckedValue
	}
	if f.amountText == "" && !asked {
		f.amountText = v.Amount.String()
	}
	amount, ok := parseAmount(f.amountText)
	switch {
	case f.amountText == "" && f.whole:
		f.amount = v.Amount
	case f.amountText == "":
		mistake(fieldAmount, textNoAmount)
	case !ok || amount < least || amount > v.Amount:
		mistake(fieldAmount, textBadAmount, ui.Euros(lang, least), ui.Euros(lang, v.Amount))
	case f.whole && amount != v.Amount:
		mistake(fieldAmount, textTwoAmounts)
	default:
		f.amount = amount
	}
}
