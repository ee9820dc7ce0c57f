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
	"partnerdeposits/core/twofactor"
)

var settingsForms = map[string]func(p *pages, c *fiber.Ctx, by caller) error{
	intentResend:   (*pages).resendVerification,
	intentPassword: (*pages).changePassword,
	intentEmail:    (*pages).changeEmail,
	intentCompany:  (*pages).changeCompany,
	intentLanguage: (*pages).changeLanguage,
	intentContact:  (*pages).changeContact,
	intentZone:     (*pages).changeZone,
	intentEnd:      (*pages).endSession,
	intentMails:    (*pages).changeMails,

	intentEnableTOTP:    (*pages).enableTOTP,
	intentConfirmTOTP:   (*pages).confirmTOTP,
	intentDisableTOTP:   (*pages).disableTOTP,
	intentRecoveryCodes: (*pages).newRecoveryCodes,
}

func (p *pages) settings(c *fiber.Ctx, by caller) error {
	ui.SetLanguageLinkPath(c, pathSettings)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, pathSettings)
	}
	form, known := settingsForms[ui.PostValue(c, fieldIntent)]
	if !known {
		return c.Redirect(pathSettings, http.StatusSeeOther)
	}
	return form(p, c, by)
}

func (p *pages) resendVerification(c *fiber.Ctx, by caller) error {
	if err := p.Operators.MailVerificationLink(c.UserContext(), by.Operator); err != nil {
		return err
	}
	return settled(c, intentResend)
}

func (p *pages) changePassword(c *fiber.Ctx, by caller) error {
	if err := p.limited(c, by, operators.PasswordCheckRateLimit); err != nil {
		return err
	}
	in, err := p.Operators.ChangePassword(c.UserContext(), by.Operator, ui.PostValue(c, fieldCurrent),
		ui.PostValue(c, fieldNew), p.browserOf(c))
	if err != nil {
		return p.settingsMistake(c, by, intentPassword, err)
	}
	p.renewed(c, in)
	return settled(c, intentPassword)
}

func (p *pages) changeEmail(c *fiber.Ctx, by caller) error {
	if err := p.limited(c, by, operators.PasswordCheckRateLimit); err != nil {
		return err
	}
	email := strings.TrimSpace(ui.PostValue(c, fieldEmail))
	in, err := p.Operators.ChangeEmail(c.UserContext(), by.Operator, email, ui.PostValue(c, fieldCurrent),
		ui.PostValue(c, fieldCode), p.browserOf(c))
	if err != nil {
		return p.settingsMistake(c, by, intentEmail, err)
	}
	// Without a mail server no verification mail can be sent, so the new address counts at once.
	if in.Token.Reveal() != "" {
		p.renewed(c, in)
		return settled(c, doneEmailNow)
	}
	return settled(c, intentEmail)
}

func (p *pages) changeCompany(c *fiber.Ctx, by caller) error {
	if err := p.Operators.RenameCompany(c.UserContext(), by.Operator, by.Account,
		ui.PostValue(c, fieldCompany)); err != nil {
		return p.settingsMistake(c, by, intentCompany, err)
	}
	return settled(c, intentCompany)
}

// changeLanguage saves the operator's language, which replaces one chosen with a page's switch.
func (p *pages) changeLanguage(c *fiber.Ctx, by caller) error {
	locale := ui.PostValue(c, fieldLocale)
	if err := p.Operators.ChangeLanguage(c.UserContext(), by.Operator, locale); err != nil {
		return p.settingsMistake(c, by, intentLanguage, err)
	}
	return settled(c, intentLanguage+"&lang="+locale)
}

func (p *pages) changeContact(c *fiber.Ctx, by caller) error {
	contact := ui.PostValue(c, fieldContact)
	if err := p.Operators.ChangeContact(c.UserContext(), by.Operator, by.Account, contact); err != nil {
		return p.settingsMistake(c, by, intentContact, err)
	}
	return settled(c, intentContact)
}

func (p *pages) changeZone(c *fiber.Ctx, by caller) error {
	if err := p.Operators.ChangeTimezone(c.UserContext(), by.Operator, by.Account, ui.PostValue(c,
		fieldZone)); err != nil {
		return p.settingsMistake(c, by, intentZone, err)
	}
	return settled(c, intentZone)
}

func (p *pages) endSession(c *fiber.Ctx, by caller) (err error) {
	if name := ui.PostValue(c, fieldSession); name == otherSessions {
		err = p.Operators.EndOtherSessions(c.UserContext(), by.Operator, p.Site.SessionToken(c))
	} else {
		err = p.Operators.EndSession(c.UserContext(), by.Operator, name)
	}
	if err != nil {
		return err
	}
	return settled(c, intentEnd)
}

func (p *pages) renewed(c *fiber.Ctx, in operators.SignInResult) {
	p.Site.SetSession(c, in.Token.Reveal(), in.Lifetime)
}

// settingsFaults maps the errors of the settings page to their form fields.
var settingsFaults = map[*fault.Error]string{
	connect.ErrBadCredentials: fieldCurrent, connect.ErrInvalidPassword: fieldNew, connect.ErrInvalidEmail: fieldEmail,
	connect.ErrEmailTaken:     fieldEmail,
	connect.ErrInvalidCompany: fieldCompany, fault.ErrInvalidField: fieldLocale, twofactor.ErrWrongCode: fieldCode,
}

// invalidFields maps each single-field form to its field and the message about an invalid value.
var invalidFields = map[string]struct {
	name string
	says ui.LocalizedText
}{
	intentContact: {fieldContact, textBadContact}, intentLanguage: {fieldLocale, textBadLanguage},
	intentZone: {fieldZone, textBadZone},
}

// settingsMistake shows the settings with an error message at its field. An error without a field is returned
// unchanged.
func (p *pages) settingsMistake(c *fiber.Ctx, by caller, intent string, err error) error {
	for about, field := range settingsFaults {
		if !errors.Is(err, about) {
			continue
		}
		lang := ui.LangOf(c)
		text := ui.ErrorTextOf(about.Code).Message.In(lang)
		switch about {
		case connect.ErrBadCredentials:
			text = textWrongPassword.In(lang)
		case connect.ErrEmailTaken:
			text = textAddressTaken.In(lang)
		case fault.ErrInvalidField:
			field, text = invalidFields[intent].name, invalidFields[intent].says.In(lang)
		}
		v := settingsView{Intent: intent, Mistake: &ui.Mistake{Field: intent + "-" + field, Text: text},
			Sent: settingsSent(c)}
		v.Page.ErrorCode = about.Code
		status := http.StatusUnprocessableEntity
		if about.Kind == fault.Conflict {
			status = problem.HTTPStatus(about.Kind)
		}
		return p.renderSettings(c, by, status, v)
	}
	return err
}

func settingsSent(c *fiber.Ctx) map[string]string {
	return map[string]string{
		fieldEmail:   strings.TrimSpace(ui.PostValue(c, fieldEmail)),
		fieldCompany: strings.TrimSpace(ui.PostValue(c, fieldCompany)),
		fieldContact: strings.TrimSpace(ui.PostValue(c, fieldContact)),
	}
}

func (p *pages) changeMails(c *fiber.Ctx, by caller) error {
	if err := p.Operators.SetEndingCoverMails(c.UserContext(), by.Operator,
		ui.PostValue(c, fieldCoverMails) == ui.CheckboxCheckedValue); err != nil {
		return err
	}
	return settled(c, intentMails)
}
