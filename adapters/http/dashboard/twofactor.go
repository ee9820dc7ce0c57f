package dashboard

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
)

// enableTOTP creates and shows a secret for two-factor codes, which are required only after a first code was
// entered.
func (p *pages) enableTOTP(c *fiber.Ctx, by caller) error {
	if err := p.limited(c, by, operators.PasswordCheckRateLimit); err != nil {
		return err
	}
	enrolment, err := p.Operators.BeginTOTPEnrolment(c.UserContext(), by.Operator, ui.PostValue(c, fieldCurrent),
		p.browserOf(c))
	if err != nil {
		return p.refusedCode(c, by, intentEnableTOTP, err)
	}
	return p.enrol(c, by, http.StatusOK, enrolment, "")
}

// enrol shows the two-factor secret as QR code and text, with a field for the first code.
func (p *pages) enrol(c *fiber.Ctx, by caller, status int, enrolment operators.TOTPEnrolment, mistake string) error {
	qr, err := ui.NewQR(enrolment.URI.Reveal())
	if err != nil {
		return err
	}
	v := enrolView{
		Page: p.page(c, by, ui.SectionSettings, textEnrol.In(ui.LangOf(c))), Token: p.Site.FormToken(c),
		QR: qr, Secret: grouped(enrolment.Secret.Reveal()), Error: mistake,
	}
	v.Page.Wide, v.Page.ReadAt = false, pathSettings
	if mistake != "" {
		v.Page.ErrorCode = twofactor.ErrWrongCode.Code
	}
	return ui.Render(c, status, enrolPage(v))
}

// grouped splits a text into groups of four characters, for people who type it.
func grouped(text string) string {
	var groups []string
	for ; len(text) > 4; text = text[4:] {
		groups = append(groups, text[:4])
	}
	return strings.Join(append(groups, text), " ")
}

func (p *pages) confirmTOTP(c *fiber.Ctx, by caller) error {
	done, waits, err := p.Operators.ConfirmTOTP(c.UserContext(), by.Operator, by.Account, ui.PostValue(c, fieldCode),
		p.browserOf(c))
	if errors.Is(err, twofactor.ErrWrongCode) {
		return p.enrol(c, by, http.StatusUnprocessableEntity, waits,
			ui.ErrorTextOf(twofactor.ErrWrongCode.Code).Message.In(ui.LangOf(c)))
	}
	if err != nil {
		return p.refusedCode(c, by, intentConfirmTOTP, err)
	}
	return p.showRecoveryCodes(c, by, done, textCodesAreOn)
}

func (p *pages) newRecoveryCodes(c *fiber.Ctx, by caller) error {
	done, err := p.Operators.ReplaceRecoveryCodes(c.UserContext(), by.Operator, by.Account, ui.PostValue(c, fieldCode),
		p.browserOf(c))
	if err != nil {
		return p.refusedCode(c, by, intentRecoveryCodes, err)
	}
	return p.showRecoveryCodes(c, by, done, textCodesReplaced)
}

// showRecoveryCodes answers with the recovery codes, without a redirect: the database holds only their hashes.
func (p *pages) showRecoveryCodes(c *fiber.Ctx, by caller, done operators.TwoFactorResult,
	lead ui.LocalizedText) error {
	p.renew(c, done.SignInResult)
	lang := ui.LangOf(c)
	v := recoveryView{Page: p.page(c, by, ui.SectionSettings, textRecoveryTitle.In(lang)), Lead: lead.In(lang)}
	v.Page.Wide, v.Page.ReadAt, v.Page.FormToken = false, pathSettings, p.Site.FormTokenOfSession(done.Token.Reveal())
	v.Page.AllowCopying(c)
	for _, code := range done.RecoveryCodes {
		v.Codes = append(v.Codes, secret.Text.Reveal(code))
	}
	return ui.Render(c, http.StatusOK, recoveryPage(v))
}

func (p *pages) disableTOTP(c *fiber.Ctx, by caller) error {
	if err := p.limited(c, by, operators.PasswordCheckRateLimit); err != nil {
		return err
	}
	in, err := p.Operators.DisableTOTP(c.UserContext(), by.Operator, by.Account, ui.PostValue(c, fieldCurrent),
		ui.PostValue(c, fieldCode), p.browserOf(c))
	if err != nil {
		return p.refusedCode(c, by, intentDisableTOTP, err)
	}
	p.renew(c, in)
	return settled(c, intentDisableTOTP)
}

func (p *pages) renew(c *fiber.Ctx, in operators.SignInResult) {
	p.Site.SetSession(c, in.Token.Reveal(), in.Lifetime)
}

// refusedCode shows the settings after a refused two-factor form, with the mistake or reason.
func (p *pages) refusedCode(c *fiber.Ctx, by caller, intent string, err error) error {
	lang := ui.LangOf(c)
	sent := settingsView{Intent: intent}
	switch {
	case errors.Is(err, connect.ErrEmailUnverified):
		return p.unverified(c, by)
	case errors.Is(err, twofactor.ErrWrongCode):
		sent.Mistake, sent.Page.ErrorCode = &ui.Mistake{Field: intent + "-" + fieldCode,
			Text: ui.ErrorTextOf(twofactor.ErrWrongCode.Code).Message.In(lang)}, "invalid_field"
	case errors.Is(err, connect.ErrBadCredentials):
		sent.Mistake, sent.Page.ErrorCode = &ui.Mistake{Field: intent + "-" + fieldCurrent, Text: textWrongPassword.In(lang)},
			"invalid_field"
	case fault.KindOf(err) == fault.Conflict:
		sent.Problem = ui.ErrorTextOf(fault.FromError(err).Code).Message.In(lang)
		return p.renderSettings(c, by, problem.HTTPStatus(fault.Conflict), sent)
	default:
		return err
	}
	return p.renderSettings(c, by, http.StatusUnprocessableEntity, sent)
}

type enrolView struct {
	Page   ui.Page
	Token  string
	QR     ui.QR
	Secret string
	Error  string // Error message about the entered two-factor code.
}

type recoveryView struct {
	Page  ui.Page
	Lead  string
	Codes []string
}

func codeField(form string, lang ui.Lang, mistake string) ui.Field {
	return ui.Field{
		Form: form, Name: fieldCode, Type: "text", Label: textCode.In(lang), Hint: textCodeHint.In(lang),
		Autocomplete: "one-time-code", MaxLength: 40,
		Required: true, Error: mistake,
	}
}
