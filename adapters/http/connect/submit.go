package connect

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
)

func (p *pages) register(c *fiber.Ctx) error {
	v := visitOf(c, pathRegister)
	return p.submit(c, v, func(in input, password string) (connections.ConnectResult, error) {
		form := connect.SignUpForm{Email: in.email, Password: password, CompanyName: in.company, Locale: string(ui.LangOf(c))}
		if v.connected {
			return p.Connections.SignUp(c.UserContext(), v.request, form, p.browserOf(c))
		}
		signedIn, err := p.Operators.SignUp(c.UserContext(), form, p.browserOf(c))
		return connections.ConnectResult{SignedIn: signedIn}, err
	})
}

func (p *pages) logIn(c *fiber.Ctx) error {
	v := visitOf(c, pathLogin)
	return p.submit(c, v, func(in input, password string) (connections.ConnectResult, error) {
		if v.connected {
			return p.Connections.LogIn(c.UserContext(), v.request, in.email, password, p.browserOf(c))
		}
		signedIn, err := p.Operators.LogIn(c.UserContext(), in.email, password, p.browserOf(c))
		return connections.ConnectResult{SignedIn: signedIn}, err
	})
}

// submit handles a sign-up or log-in form and shows it again after an error.
func (p *pages) submit(c *fiber.Ctx, v visit, enter func(in input, password string) (connections.ConnectResult,
	error)) error {
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, ui.PathWithQuery(v.path, v.query))
	}
	if v.connected && ui.PostValue(c, fieldIntent) == intentLink {
		return p.link(c, v)
	}
	in := input{email: strings.TrimSpace(ui.PostValue(c, fieldEmail)),
		company: strings.TrimSpace(ui.PostValue(c, fieldCompany))}
	harmless, err := p.limit(c)
	if err != nil {
		return err
	}
	result, err := enter(in, ui.PostValue(c, fieldPassword))
	if aboutForm(err) {
		return p.form(c, v, result, in, err)
	}
	if err != nil {
		return err
	}
	if v.path == pathLogin {
		harmless()
	}
	return p.arrived(c, v, result)
}

func (p *pages) link(c *fiber.Ctx, v visit) error {
	o, a, err := p.Operators.FindCurrentOperator(c.UserContext(), p.Site.SessionToken(c))
	// Show the log-in page if the session ended after the consent page was shown.
	if errors.Is(err, connect.ErrBadCredentials) {
		return c.Redirect(ui.PathWithQuery(pathLogin, v.query), http.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	result, err := p.Connections.LinkAccount(c.UserContext(), v.request, o, a)
	if err != nil {
		return err
	}
	return p.arrived(c, v, result)
}

// arrived sets the session cookie and redirects to the return URL, to /connect/done, or to the dashboard; before a
// two-factor code, to the page for the code.
func (p *pages) arrived(c *fiber.Ctx, v visit, a connections.ConnectResult) error {
	if half := a.SignedIn.Half.Reveal(); half != "" {
		p.Site.SetHalfSignInToken(c, half, a.SignedIn.Lifetime)
		return c.Redirect(ui.PathWithQuery(pathCode, v.query), http.StatusSeeOther)
	}
	token := p.Site.SessionToken(c)
	if fresh := a.SignedIn.Token.Reveal(); fresh != "" {
		token = fresh
		p.Site.SetSession(c, fresh, a.SignedIn.Lifetime)
	}
	switch {
	case a.Refusal != nil:
		return p.refused(c, v, a, nil)
	case a.ReturnURL == "":
		return c.Redirect(next(c, v), http.StatusSeeOther)
	case direct(a.Verified):
		return c.Redirect(a.ReturnURL, http.StatusSeeOther)
	default:
		query := "outcome=" + string(a.Outcome) + "&seal=" + p.Site.SignText(token, sealedText(a.Outcome, v.request)) + "&" +
			v.query
		return c.Redirect(ui.PathWithQuery(pathDone, query), http.StatusSeeOther)
	}
}

// sealedText returns the text to be signed for an outcome of a partner connect. It contains the connect URL's
// signature, so it is not valid for another URL.
func sealedText(outcome connect.LinkResult, r connections.ConnectParams) string {
	return "outcome:" + string(outcome) + ":" + r.Sig
}

// done renders the page that confirms the link and names the host of an unregistered return URL. The signature
// does not cover return_url, so the operator must see the host before following.
func (p *pages) done(c *fiber.Ctx) error {
	v := visitOf(c, pathDone)
	token := p.Site.SessionToken(c)
	_, account, err := p.Operators.FindCurrentOperator(c.UserContext(), token)
	if errors.Is(err, connect.ErrBadCredentials) {
		return c.Redirect(pathLogin, http.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	outcome := connect.LinkResult(c.Query("outcome"))
	if !p.Site.VerifySignedText(token, sealedText(outcome, v.request), c.Query("seal")) {
		return c.Redirect(pathDashboard, http.StatusSeeOther)
	}
	result, err := p.Connections.RebuildConnectResult(c.UserContext(), v.request, account, outcome)
	if errors.Is(err, connect.ErrAccountNotLinked) {
		return c.Redirect(pathDashboard, http.StatusSeeOther)
	}
	if err != nil {
		return err
	}
	lang := ui.LangOf(c)
	return ui.Render(c, http.StatusOK, donePage(doneView{
		Page:     ui.Page{Lang: lang, Query: v.query, Title: textDone.In(lang, result.Verified.Partner.Name)},
		Partner:  result.Verified.Partner.Name,
		Host:     returnHost(result.Verified),
		ReturnTo: result.ReturnURL,
	}))
}

// refused renders the page that explains why the account is not linked. current is the signed-in operator; nil
// after a form, and without a session.
func (p *pages) refused(c *fiber.Ctx, v visit, a connections.ConnectResult, current *signedIn) error {
	lang := ui.LangOf(c)
	f := ui.ErrorTextOf(a.Refusal.Code)
	view := doneView{
		Page:      ui.Page{Lang: lang, Query: v.query, Title: f.Title.In(lang), ErrorCode: a.Refusal.Code},
		Message:   f.Message.In(lang),
		Sides:     sidesOf(a, lang),
		RequestID: problem.RequestID(c),
		Host:      returnHost(a.Verified),
		ReturnTo:  a.ReturnURL,
		// A refused sign-up begins no session, so the page has no link to the dashboard.
		Dashboard: a.SignedIn.Token.Reveal() != "" || p.Site.SessionToken(c) != "",
	}
	if current != nil {
		view.Sides = append([]string{textSideYou.In(lang, current.operator.Email, current.account.CompanyName)},
			view.Sides...)
		view.Token, view.OtherAccount = p.Site.FormToken(c), ui.PathWithQuery(pathLogout, v.query)
	} else if !view.Dashboard && a.Sides.NumberOwner != "" {
		view.LogIn = ui.PathWithQuery(pathLogin, v.query)
	}
	return ui.Render(c, problem.HTTPStatus(a.Refusal.Kind), refusedPage(view))
}

// sidesOf returns a sentence for each link that rules out the wanted one, and one for the wanted link.
func sidesOf(a connections.ConnectResult, lang ui.Lang) []string {
	wanted, s := a.Verified, a.Sides
	var out []string
	if s.LinkedPartner != "" {
		out = append(out, textSideLinked.In(lang, s.LinkedPartner, s.LinkedNumber))
	}
	out = append(out, textSideWanted.In(lang, wanted.Partner.Name, wanted.ExternalID))
	if s.NumberOwner != "" {
		out = append(out, textSideOwner.In(lang, wanted.ExternalID, s.NumberOwner))
	}
	return out
}

// logOut ends the session and redirects to the log-in page with the query of the connect URL.
func (p *pages) logOut(c *fiber.Ctx) error {
	ui.SetLanguageLinkPath(c, pathDashboard)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, pathDashboard)
	}
	if err := p.Operators.LogOut(c.UserContext(), p.Site.SessionToken(c)); err != nil {
		return err
	}
	p.Site.ClearSession(c)
	return c.Redirect(ui.PathWithQuery(pathLogin, ui.RawQuery(c)), http.StatusSeeOther)
}
