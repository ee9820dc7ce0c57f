// Package account serves the pages that links in mails open: one verifies an e-mail address, one sets a new
// password (pages.md, "Accounts"). A GET changes nothing, since mail programs open links by themselves.
package account

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
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

const (
	pathVerify = site.VerifyEmailPath
	pathForgot = site.ForgotPasswordPath
	pathReset  = site.ResetPasswordPath
	pathLogin  = site.LogInPath
	pathDesk   = site.DashboardPath

	fieldToken    = "token"
	fieldEmail    = "email"
	fieldPassword = "password"
	queryDone     = "done"
)

type Deps struct {
	Operators *operators.Service
	Limiter   ports.Limiter
	// Allowed form submissions per minute and network: AUTH_ATTEMPTS_PER_MINUTE.
	AttemptsPerMinute int
	Site              *ui.SiteCookies
}

type pages struct{ Deps }

func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathVerify, d.Site.PageMiddleware, p.showVerify)
	app.Post(pathVerify, d.Site.PageMiddleware, p.form(pathDesk, p.verify))
	app.Get(pathForgot, d.Site.PageMiddleware, p.showForgot)
	app.Post(pathForgot, d.Site.PageMiddleware, p.form(pathForgot, p.forgot))
	app.Get(pathReset, d.Site.PageMiddleware, p.showReset)
	app.Post(pathReset, d.Site.PageMiddleware, p.form(pathForgot, p.reset))
}

// form wraps a form handler with the CSRF check and the rate limit of the client's network. The error page for an
// expired form links to reopen, since the form's own path would repeat the secret token.
func (p *pages) form(reopen string, h fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ui.SetLanguageLinkPath(c, reopen)
		if err := p.Site.CheckCSRF(c); err != nil {
			return ui.RenderFormExpired(c, reopen)
		}
		decision := p.Limiter.Allow(c.UserContext(), ports.LimitRule{
			Name: "auth-address", Key: "auth:address:" + ui.NetworkOfIP(c.IP()), PerMinute: p.AttemptsPerMinute,
		})
		if !decision.Allowed {
			return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
		}
		return h(c)
	}
}

type view struct {
	Page   ui.Page
	Lead   string
	More   string // A second sentence of text on the page; "" for none.
	Path   string // URL path to which the page's form is sent; "" for no form.
	Token  string
	Secret string // The secret token from the link in a mail, which the form sends back.
	Fields []ui.Field
	Failed ui.Mistake
	Button string
	Link   string // URL of a link below the form; "" for none.
	To     string
}

func (p *pages) render(c *fiber.Ctx, status int, title ui.LocalizedText, v view) error {
	v.Page.Lang, v.Page.Title, v.Token = ui.LangOf(c), title.In(ui.LangOf(c)), p.Site.FormToken(c)
	if c.Method() == fiber.MethodGet {
		v.Page.Query = ui.RawQuery(c)
	}
	return ui.Render(c, status, page(v))
}

// void renders the page for a link in a mail that no longer works.
func (p *pages) void(c *fiber.Ctx, link string, to ui.LocalizedText) error {
	f := ui.ErrorTextOf(connect.ErrTokenVoid.Code)
	lang := ui.LangOf(c)
	return p.render(c, problem.HTTPStatus(connect.ErrTokenVoid.Kind), f.Title, view{
		Page: ui.Page{ErrorCode: connect.ErrTokenVoid.Code, ReadAt: pathForgot}, Lead: f.Message.In(lang), Link: link,
		To: to.In(lang),
	})
}

func (p *pages) showVerify(c *fiber.Ctx) error {
	return p.verifyForm(c, http.StatusOK, c.Query(fieldToken), "")
}

// verifyForm renders the page that asks the operator to confirm an e-mail address. A browser without a session of
// the account must enter the password.
func (p *pages) verifyForm(c *fiber.Ctx, status int, token, mistake string) error {
	found, asks, err := p.Operators.FindVerificationToken(c.UserContext(), token, p.browserOf(c))
	if errors.Is(err, connect.ErrTokenVoid) {
		return p.void(c, pathDesk, textToDesk)
	}
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	v := view{Lead: textVerifyLead.In(lang, found.Email), Path: pathVerify, Secret: token,
		Button: textVerifyButton.In(lang)}
	if found.Kind == connect.TokenChangeEmail {
		v.Lead = textChangeLead.In(lang, found.Email)
	}
	if asks {
		v.More, v.Link, v.To = textVerifyPassword.In(lang), pathForgot, textForgot.In(lang)
		v.Fields = []ui.Field{{
			Name: fieldPassword, Type: "password", Label: textAccountPassword.In(lang), Autocomplete: "current-password",
			MaxLength: 200, Required: true,
			Error: mistake,
		}}
	}
	if mistake != "" {
		v.Failed, v.Page.ErrorCode, v.Page.ReadAt = ui.Mistake{Field: fieldPassword, Text: mistake},
			connect.ErrBadCredentials.Code, pathForgot
	}
	return p.render(c, status, textVerify, v)
}

func (p *pages) browserOf(c *fiber.Ctx) operators.Browser {
	return operators.Browser{Session: p.Site.SessionToken(c), Network: ui.NetworkOfIP(c.IP()), Name: ui.BrowserOf(c)}
}

func (p *pages) verify(c *fiber.Ctx) error {
	token, password := ui.PostValue(c, fieldToken), ui.PostValue(c, fieldPassword)
	in, err := p.Operators.VerifyEmail(c.UserContext(), token, password, p.browserOf(c))
	switch {
	case errors.Is(err, connect.ErrTokenVoid):
		return p.void(c, pathDesk, textToDesk)
	case errors.Is(err, connect.ErrBadCredentials):
		mistake := textPasswordWrong
		// If the session ended after the form was shown, the form had no password field: the password is missing, not
		// wrong.
		if password == "" {
			mistake = textPasswordMissing
		}
		return p.verifyForm(c, http.StatusUnprocessableEntity, token, mistake.In(ui.LangOf(c)))
	case errors.Is(err, connect.ErrEmailTaken):
		f := ui.ErrorTextOf(connect.ErrEmailTaken.Code)
		return p.render(c, http.StatusConflict, f.Title, view{
			Page: ui.Page{ErrorCode: connect.ErrEmailTaken.Code, ReadAt: pathForgot}, Lead: f.Message.In(ui.LangOf(c)),
			Link: pathLogin, To: textToLogin.In(ui.LangOf(c)),
		})
	case err != nil:
		return err
	}
	if token := in.Token.Reveal(); token != "" {
		p.Site.SetSession(c, token, in.Lifetime)
	}
	lang := ui.LangOf(c)
	return p.render(c, http.StatusOK, textVerified,
		view{Page: ui.Page{ReadAt: pathDesk}, Lead: textVerifiedLead.In(lang), Link: pathDesk, To: textToDesk.In(lang)})
}

func (p *pages) showForgot(c *fiber.Ctx) error {
	if c.Query(queryDone) != "" {
		lang := ui.LangOf(c)
		return p.render(c, http.StatusOK, textSent,
			view{Lead: textSentLead.In(lang), Link: pathLogin, To: textToLogin.In(lang)})
	}
	return p.forgotForm(c, http.StatusOK, "", nil)
}

// forgot handles the form for a forgotten password. Response and timing are the same for every address, so that
// nobody learns which addresses have accounts.
func (p *pages) forgot(c *fiber.Ctx) error {
	email := strings.TrimSpace(ui.PostValue(c, fieldEmail))
	err := p.Operators.RequestPasswordReset(c.UserContext(), email, string(ui.LangOf(c)))
	if errors.Is(err, connect.ErrInvalidEmail) {
		return p.forgotForm(c, http.StatusUnprocessableEntity, email, connect.ErrInvalidEmail)
	}
	if err != nil {
		return err
	}
	return c.Redirect(pathForgot+"?"+queryDone+"=1", http.StatusSeeOther)
}

func (p *pages) forgotForm(c *fiber.Ctx, status int, email string, failed *fault.Error) error {
	lang := ui.LangOf(c)
	field := ui.Field{Name: fieldEmail, Type: "email", Label: textEmail.In(lang), Value: email, Autocomplete: "username",
		MaxLength: 254, Required: true}
	v := view{Lead: textForgotLead.In(lang), Path: pathForgot, Button: textForgotButton.In(lang), Link: pathLogin,
		To: textToLogin.In(lang)}
	v.add(field, failed, lang)
	return p.render(c, status, textForgot, v)
}

func (v *view) add(field ui.Field, failed *fault.Error, lang ui.Lang) {
	if failed != nil {
		field.Error = ui.ErrorTextOf(failed.Code).Message.In(lang)
		v.Failed, v.Page.ErrorCode = ui.Mistake{Field: field.Name, Text: field.Error}, failed.Code
	}
	v.Fields = append(v.Fields, field)
}

func (p *pages) showReset(c *fiber.Ctx) error {
	token := c.Query(fieldToken)
	if _, err := p.Operators.FindMailToken(c.UserContext(), token, connect.TokenResetPassword); errors.Is(err,
		connect.ErrTokenVoid) {
		return p.void(c, pathForgot, textAskAgain)
	} else if err != nil {
		return err
	}
	return p.resetForm(c, http.StatusOK, token, nil)
}

func (p *pages) reset(c *fiber.Ctx) error {
	token := ui.PostValue(c, fieldToken)
	err := p.Operators.ResetPassword(c.UserContext(), token, ui.PostValue(c, fieldPassword), p.browserOf(c))
	switch {
	case errors.Is(err, connect.ErrTokenVoid):
		return p.void(c, pathForgot, textAskAgain)
	case errors.Is(err, connect.ErrInvalidPassword):
		return p.resetForm(c, http.StatusUnprocessableEntity, token, connect.ErrInvalidPassword)
	case err != nil:
		return err
	}
	p.Site.ClearSession(c)
	return c.Redirect(pathLogin+"?"+queryDone+"=reset", http.StatusSeeOther)
}

func (p *pages) resetForm(c *fiber.Ctx, status int, token string, failed *fault.Error) error {
	lang := ui.LangOf(c)
	v := view{Lead: textResetLead.In(lang), Path: pathReset, Secret: token, Button: textResetButton.In(lang)}
	v.add(ui.Field{
		Name: fieldPassword, Type: "password", Label: textPassword.In(lang), Hint: textPasswordHint.In(lang),
		Autocomplete: "new-password",
		MinLength:    10, MaxLength: 200, Required: true,
	}, failed, lang)
	return p.render(c, status, textReset, v)
}
