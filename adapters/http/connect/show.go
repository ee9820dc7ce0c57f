package connect

import (
	"errors"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/site"
)

type visit struct {
	// The path of the requested page: /register, /login or the page for the two-factor code.
	path    string
	query   string // The raw query string of the request, which every link and form of the page repeats.
	request connections.ConnectParams
	prefill connections.SignUpPrefill
	// Whether the operator arrived through a connect URL.
	connected bool
}

func visitOf(c *fiber.Ctx, path string) visit {
	v := visit{path: path, query: ui.RawQuery(c)}
	v.request, v.prefill, v.connected = connections.ParseConnectQuery(v.query)
	return v
}

func (p *pages) showRegister(c *fiber.Ctx) error { return p.show(c, visitOf(c, pathRegister)) }

func (p *pages) showLogin(c *fiber.Ctx) error { return p.show(c, visitOf(c, pathLogin)) }

// show renders the sign-up or log-in form; a signed-in operator is asked to consent to the link instead. A refused
// link gets a page about the conflict, except that the owner of a taken external id can still log in.
func (p *pages) show(c *fiber.Ctx, v visit) error {
	current, err := p.currentOperator(c)
	if err != nil {
		return err
	}
	if !v.connected {
		if current != nil {
			return c.Redirect(next(c, v), http.StatusSeeOther)
		}
		return p.form(c, v, connections.ConnectResult{}, prefilled(v), nil)
	}
	var account *connect.Account
	if current != nil {
		account = &current.account
	}
	offer, err := p.Connections.PreviewLink(c.UserContext(), v.request, account)
	switch {
	case err != nil:
		return err
	case offer.Refusal != nil && (current != nil || v.path == pathRegister):
		return p.refused(c, v, offer, current)
	case current != nil:
		return p.consent(c, v, offer, *current)
	default:
		return p.form(c, v, offer, prefilled(v), nil)
	}
}

// ended returns the notice that the operator's session has ended, and whether an unsent form was kept; "" if no
// session ended.
func (p *pages) ended(c *fiber.Ctx, v visit, lang ui.Lang) string {
	known := p.Site.LastOperator(c)
	unsent := p.Site.UnsentForm(c, known.OperatorID)
	switch {
	case v.connected || known == ui.RememberedOperator{}:
		return ""
	case unsent.Lost:
		return textEndedLost.In(lang)
	case unsent.Page != "":
		return textEndedKept.In(lang)
	}
	return textEnded.In(lang)
}

// next returns the dashboard page to open after a log-in: the one named in the query, or the first page.
func next(c *fiber.Ctx, v visit) string {
	if v.connected || v.path == pathRegister {
		return pathDashboard
	}
	return site.PathAfterLogIn(c.Query(ui.AfterLogInQueryParam))
}

func prefilled(v visit) input { return input{email: v.prefill.Email, company: v.prefill.Name} }

type signedIn struct {
	operator connect.Operator
	account  connect.Account
}

// currentOperator returns the operator of the request's session and the account; nil without a session.
func (p *pages) currentOperator(c *fiber.Ctx) (*signedIn, error) {
	o, a, err := p.Operators.FindCurrentOperator(c.UserContext(), p.Site.SessionToken(c))
	if errors.Is(err, connect.ErrBadCredentials) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &signedIn{o, a}, nil
}

// input is the text typed into the sign-up or log-in form, to show it again; never a password.
type input struct{ email, company string }

// form renders the sign-up or log-in page; refusal is the error of the last submission, or nil.
func (p *pages) form(c *fiber.Ctx, v visit, offer connections.ConnectResult, in input, refusal error) error {
	verified := offer.Verified
	allowReturn(c, verified)
	lang := ui.LangOf(c)
	status, failed := formFailure(refusal, lang)
	view := formView{
		Page:    ui.Page{Lang: lang, Query: v.query, ErrorCode: failed.code},
		Visit:   v,
		Token:   p.Site.FormToken(c),
		Partner: verified.Partner.Name,
		Number:  verified.ExternalID,
		Owner:   offer.Sides.NumberOwner,
		Host:    returnHost(verified),
		Failed:  failed,
		Reset:   v.path == pathLogin && refusal == nil && c.Query("done") == "reset",
	}
	if v.path == pathLogin {
		if refusal == nil {
			view.Ended = p.ended(c, v, lang)
		}
		view.Page.Title = titleOf(verified, textLogIn, textLogInPartner, lang)
		view.Fields = loginFields(in, failed, lang)
		return ui.Render(c, status, loginPage(view))
	}
	view.Page.Title = titleOf(verified, textSignUp, textSignUpPartner, lang)
	view.Fields = registerFields(in, failed, lang)
	return ui.Render(c, status, registerPage(view))
}

// consent asks a signed-in operator whether to link the account to the partner. If the link exists, the page only
// offers the way on.
func (p *pages) consent(c *fiber.Ctx, v visit, offer connections.ConnectResult, current signedIn) error {
	verified := offer.Verified
	allowReturn(c, verified)
	lang := ui.LangOf(c)
	view := formView{
		Page:    ui.Page{Lang: lang, Query: v.query, Title: textConsent.In(lang, verified.Partner.Name)},
		Visit:   v,
		Token:   p.Site.FormToken(c),
		Partner: verified.Partner.Name,
		Number:  verified.ExternalID,
		Email:   current.operator.Email,
		Company: current.account.CompanyName,
		Host:    returnHost(verified),
	}
	if offer.Outcome == connect.OutcomeAlreadyLinked {
		view.Page.Title = textLinked.In(lang)
		return ui.Render(c, http.StatusOK, linkedPage(view))
	}
	return ui.Render(c, http.StatusOK, consentPage(view))
}

func titleOf(verified connections.VerifiedConnectURL, plain, withPartner ui.LocalizedText, lang ui.Lang) string {
	if verified.Partner.ID.IsZero() {
		return plain.In(lang)
	}
	return withPartner.In(lang, verified.Partner.Name)
}

// allowReturn lets the form redirect to the partner's return URL (Content-Security-Policy form-action), unless the
// operator must confirm its host first.
func allowReturn(c *fiber.Ctx, verified connections.VerifiedConnectURL) {
	if direct(verified) {
		ui.AllowFormRedirects(c, verified.Return.URL)
	}
}

// direct reports whether the browser is redirected to the return URL at once, without the operator confirming its
// host.
func direct(verified connections.VerifiedConnectURL) bool {
	return verified.Return != nil && verified.Return.Direct && ui.IsASCIIHost(verified.Return.URL)
}

func returnHost(verified connections.VerifiedConnectURL) string {
	if verified.Return == nil {
		return ""
	}
	return ui.HostForDisplay(verified.Return.URL)
}
