package connect

import (
	"errors"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/connections"
	"partnerdeposits/core/connect"
)

// visit holds the parts of a request that GET and POST of both pages need.
type visit struct {
	path      string // /register or /login
	query     string // raw; every link and form of the page keeps it
	request   connections.Request
	prefill   connections.Prefill
	connected bool // the operator arrived through a connect URL
}

func visitOf(c *fiber.Ctx, path string) visit {
	v := visit{path: path, query: ui.RawQuery(c)}
	v.request, v.prefill, v.connected = connections.Query(v.query)
	return v
}

func (p *pages) showRegister(c *fiber.Ctx) error { return p.show(c, visitOf(c, pathRegister)) }

func (p *pages) showLogin(c *fiber.Ctx) error { return p.show(c, visitOf(c, pathLogin)) }

// show renders the form, or asks a signed-in operator for consent to link.
func (p *pages) show(c *fiber.Ctx, v visit) error {
	var verified connections.Verified
	if v.connected {
		var err error
		if verified, err = p.Connections.Verify(c.UserContext(), v.request); err != nil {
			return err
		}
	}
	operator, err := p.currentOperator(c)
	switch {
	case err != nil:
		return err
	case operator == nil:
		return p.form(c, v, verified, input{email: v.prefill.Email, company: v.prefill.Name}, nil)
	case v.connected:
		return p.consent(c, v, verified, operator.Email)
	default:
		return c.Redirect(pathDashboard, http.StatusSeeOther)
	}
}

// currentOperator returns the signed-in operator; nil without a session.
func (p *pages) currentOperator(c *fiber.Ctx) (*connect.Operator, error) {
	o, _, err := p.Operators.CurrentOperator(c.UserContext(), p.Site.SessionToken(c))
	if errors.Is(err, connect.ErrBadCredentials) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// input is the text in the form's fields. A page never contains the password.
type input struct{ email, company string }

// form renders signup or login. refusal is the error of the last submission, or nil.
func (p *pages) form(c *fiber.Ctx, v visit, verified connections.Verified, in input, refusal error) error {
	allowReturn(c, verified)
	lang := ui.LangOf(c)
	status, failed := formFailure(refusal, lang)
	view := formView{
		Page:    ui.Page{Lang: lang, Query: v.query, ErrorCode: failed.code},
		Visit:   v,
		Token:   p.Site.FormToken(c),
		Partner: verified.Partner.Name,
		Host:    returnHost(verified),
		Failed:  failed,
	}
	if v.path == pathLogin {
		view.Page.Title = titleOf(verified, textLogIn, textLogInPartner, lang)
		view.Fields = loginFields(in, failed, lang)
		return ui.Render(c, status, loginPage(view))
	}
	view.Page.Title = titleOf(verified, textSignUp, textSignUpPartner, lang)
	view.Fields = registerFields(in, failed, lang)
	return ui.Render(c, status, registerPage(view))
}

// consent asks a signed-in operator whether to link.
func (p *pages) consent(c *fiber.Ctx, v visit, verified connections.Verified, email string) error {
	allowReturn(c, verified)
	lang := ui.LangOf(c)
	return ui.Render(c, http.StatusOK, consentPage(formView{
		Page:    ui.Page{Lang: lang, Query: v.query, Title: textConsent.In(lang, verified.Partner.Name)},
		Visit:   v,
		Token:   p.Site.FormToken(c),
		Partner: verified.Partner.Name,
		Email:   email,
		Host:    returnHost(verified),
	}))
}

func titleOf(verified connections.Verified, plain, withPartner ui.Text, lang ui.Lang) string {
	if verified.Partner.ID.IsZero() {
		return plain.In(lang)
	}
	return withPartner.In(lang, verified.Partner.Name)
}

// allowReturn lets the form redirect straight to the return URL, if no page asks the operator first.
func allowReturn(c *fiber.Ctx, verified connections.Verified) {
	if verified.Return != nil && verified.Return.Direct {
		ui.SetFormTargets(c, verified.Return.URL)
	}
}

func returnHost(verified connections.Verified) string {
	if verified.Return == nil {
		return ""
	}
	return ui.DisplayHost(verified.Return.URL)
}
