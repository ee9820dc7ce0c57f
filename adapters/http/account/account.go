// Package account serves the pages behind the links of mails: an address is verified, and a password set anew
// (pages.md, "Accounts"). A GET changes nothing: programs that read mails open links.
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
	pathVerify = site.Verify
	pathForgot = site.Forgot
	pathReset  = site.Reset
	pathLogin  = site.LogIn
	pathDesk   = site.Desk

	fieldToken    = "token"
	fieldEmail    = "email"
	fieldPassword = "password"
	queryDone     = "done"
)

// Deps are the dependencies of the pages.
type Deps struct {
	Operators         *operators.Service
	Limiter           ports.Limiter
	AttemptsPerMinute int // AUTH_ATTEMPTS_PER_MINUTE, per network
	Site              *ui.Site
}

type pages struct{ Deps }

// Mount adds the pages to app, which serves the dashboard's host.
func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathVerify, d.Site.Headers, p.showVerify)
	app.Post(pathVerify, d.Site.Headers, p.form(pathDesk, p.verify))
	app.Get(pathForgot, d.Site.Headers, p.showForgot)
	app.Post(pathForgot, d.Site.Headers, p.form(pathForgot, p.forgot))
	app.Get(pathReset, d.Site.Headers, p.showReset)
	app.Post(pathReset, d.Site.Headers, p.form(pathForgot, p.reset))
}

// form checks that a form was sent from a page of this site, and counts it against the limit of the client's network.
// reopen is the page that a form which has expired leads to: the path of the form itself would repeat the token.
func (p *pages) form(reopen string, h fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ui.SetReadAt(c, reopen)
		if err := p.Site.CheckForm(c); err != nil {
			return ui.RenderFormExpired(c, reopen)
		}
		decision := p.Limiter.Allow(c.UserContext(), ports.LimitRule{
			Name: "auth-address", Key: "auth:address:" + ui.NetworkOf(c.IP()), PerMinute: p.AttemptsPerMinute,
		})
		if !decision.Allowed {
			return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
		}
		return h(c)
	}
}

// view is the data of every page here.
type view struct {
	Page   ui.Page
	Lead   string
	More   string // a second sentence; "": none
	Path   string // target of the form; "": no form
	Token  string // CSRF token
	Secret string // the token of the mail
	Fields []ui.Field
	Failed ui.Mistake
	Button string
	Link   string // a way on; "": none
	To     string // its words
}

func (p *pages) render(c *fiber.Ctx, status int, title ui.Text, v view) error {
	v.Page.Lang, v.Page.Title, v.Token = ui.LangOf(c), title.In(ui.LangOf(c)), p.Site.FormToken(c)
	if c.Method() == fiber.MethodGet {
		v.Page.Query = ui.RawQuery(c)
	}
	return ui.Render(c, status, page(v))
}

// void tells that a link does not work, and how to get another.
func (p *pages) void(c *fiber.Ctx, link string, to ui.Text) error {
	f := ui.FailureOf(connect.ErrTokenVoid.Code)
	lang := ui.LangOf(c)
	return p.render(c, problem.Status(connect.ErrTokenVoid.Kind), f.Title, view{
		Page: ui.Page{ErrorCode: connect.ErrTokenVoid.Code, ReadAt: pathForgot}, Lead: f.Message.In(lang), Link: link,
		To: to.In(lang),
	})
}

func (p *pages) showVerify(c *fiber.Ctx) error {
	return p.verifyForm(c, http.StatusOK, c.Query(fieldToken), "")
}

// verifyForm asks before a link verifies an address: with a button alone in the browser of the account, and for its
// password in another. mistake is about the password.
func (p *pages) verifyForm(c *fiber.Ctx, status int, token, mistake string) error {
	found, asks, err := p.Operators.LinkToVerify(c.UserContext(), token, p.browserOf(c))
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
	return operators.Browser{Session: p.Site.SessionToken(c), Network: ui.NetworkOf(c.IP()), Name: ui.BrowserOf(c)}
}

// verify uses the link of a mail.
func (p *pages) verify(c *fiber.Ctx) error {
	token, password := ui.PostValue(c, fieldToken), ui.PostValue(c, fieldPassword)
	in, err := p.Operators.Verify(c.UserContext(), token, password, p.browserOf(c))
	switch {
	case errors.Is(err, connect.ErrTokenVoid):
		return p.void(c, pathDesk, textToDesk)
	case errors.Is(err, connect.ErrBadCredentials):
		mistake := textPasswordWrong
		if password == "" { // the session ended after the page was shown
			mistake = textPasswordMissing
		}
		return p.verifyForm(c, http.StatusUnprocessableEntity, token, mistake.In(ui.LangOf(c)))
	case errors.Is(err, connect.ErrEmailTaken):
		f := ui.FailureOf(connect.ErrEmailTaken.Code)
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

// forgot gives the same answer for every address, in the same time: whether the address is known is looked up later.
func (p *pages) forgot(c *fiber.Ctx) error {
	email := strings.TrimSpace(ui.PostValue(c, fieldEmail))
	err := p.Operators.ForgotPassword(c.UserContext(), email, string(ui.LangOf(c)))
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

// add adds the field of a form, with the error about it.
func (v *view) add(field ui.Field, failed *fault.Error, lang ui.Lang) {
	if failed != nil {
		field.Error = ui.FailureOf(failed.Code).Message.In(lang)
		v.Failed, v.Page.ErrorCode = ui.Mistake{Field: field.Name, Text: field.Error}, failed.Code
	}
	v.Fields = append(v.Fields, field)
}

func (p *pages) showReset(c *fiber.Ctx) error {
	token := c.Query(fieldToken)
	if _, err := p.Operators.Token(c.UserContext(), token, connect.TokenReset); errors.Is(err, connect.ErrTokenVoid) {
		return p.void(c, pathForgot, textAskAgain)
	} else if err != nil {
		return err
	}
	return p.resetForm(c, http.StatusOK, token, nil)
}

// reset sets the password. The operator then logs in with it.
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
