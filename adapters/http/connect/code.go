package connect

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/twofactor"
)

// showCode renders the page on which an operator enters the two-factor code, or redirects to the log-in page if
// the password was not entered yet.
func (p *pages) showCode(c *fiber.Ctx) error {
	v := visitOf(c, pathCode)
	o, a, err := p.Operators.FindHalfSignedInOperator(c.UserContext(), p.Site.HalfSignInToken(c))
	if errors.Is(err, twofactor.ErrSignInExpired) {
		return p.logInAgain(c, v)
	}
	if err != nil {
		return err
	}
	var verified connections.VerifiedConnectURL
	if v.connected {
		offer, err := p.Connections.PreviewLink(c.UserContext(), v.request, nil)
		if err != nil {
			return err
		}
		verified = offer.Verified
	}
	return p.codeForm(c, v, verified, signedIn{o, a}, nil)
}

// code handles the form with a two-factor or recovery code, which completes the log-in.
func (p *pages) code(c *fiber.Ctx) error {
	v := visitOf(c, pathCode)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, ui.PathWithQuery(pathCode, v.query))
	}
	half := p.Site.HalfSignInToken(c)
	o, a, err := p.Operators.FindHalfSignedInOperator(c.UserContext(), half)
	if errors.Is(err, twofactor.ErrSignInExpired) {
		return p.logInAgain(c, v)
	}
	if err != nil {
		return err
	}
	harmless, err := p.limit(c)
	if err != nil {
		return err
	}
	result, err := p.complete(c, v, half)
	switch {
	case errors.Is(err, twofactor.ErrSignInExpired):
		return p.logInAgain(c, v)
	case errors.Is(err, twofactor.ErrWrongCode):
		return p.codeForm(c, v, result.Verified, signedIn{o, a}, err)
	case err != nil:
		return err
	}
	harmless()
	p.Site.ClearHalfSignIn(c)
	return p.arrived(c, v, result)
}

func (p *pages) complete(c *fiber.Ctx, v visit, half string) (connections.ConnectResult, error) {
	code, browser := ui.PostValue(c, fieldCode), p.browserOf(c)
	if v.connected {
		return p.Connections.CompleteLogIn(c.UserContext(), v.request, half, code, browser)
	}
	in, err := p.Operators.CompleteLogIn(c.UserContext(), half, code, browser)
	return connections.ConnectResult{SignedIn: in}, err
}

func (p *pages) logInAgain(c *fiber.Ctx, v visit) error {
	p.Site.ClearHalfSignIn(c)
	return c.Redirect(ui.PathWithQuery(pathLogin, v.query), http.StatusSeeOther)
}

// queryRecovery is the query parameter that selects the page for recovery codes instead of authenticator codes.
const queryRecovery = "recovery"

// codeForm renders the form for the two-factor code; refusal is the error of the last submission, or nil.
func (p *pages) codeForm(c *fiber.Ctx, v visit, verified connections.VerifiedConnectURL, who signedIn,
	refusal error) error {
	allowReturn(c, verified)
	lang := ui.LangOf(c)
	status, failed := formFailure(refusal, lang)
	field := ui.Field{
		Name: fieldCode, Type: "text", Label: textCode.In(lang), Hint: textAppCodeHint.In(lang), InputMode: "numeric",
		Autocomplete: "one-time-code", MaxLength: 40, Required: true, Autofocus: true,
	}
	other := ui.PathWithQuery(pathCode, strings.TrimPrefix(v.query+"&"+queryRecovery+"=1", "&"))
	// A recovery code contains letters, so the phone's keyboard must not be numeric.
	if c.Query(queryRecovery) != "" {
		field.InputMode, field.Hint, other = "", textCodeHint.In(lang), ""
	}
	return ui.Render(c, status, codePage(formView{
		Page: ui.Page{Lang: lang, Query: v.query, Title: titleOf(verified, textCodeTitle, textCodePartner, lang),
			ErrorCode: failed.code},
		Visit: v, Token: p.Site.FormToken(c), Partner: verified.Partner.Name, Number: verified.ExternalID,
		Email: who.operator.Email, Company: who.account.CompanyName, Host: returnHost(verified), Failed: failed,
		Recovery: other, Fields: withFailure([]ui.Field{field}, failed),
	}))
}
