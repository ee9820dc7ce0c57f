// Package checkout serves the tenant's pages at /checkout/{token} (api.md §3; pages.md, "Checkout"). The token in
// the URL is the only credential of these pages, so they send no referrer and forbid caching.
package checkout

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/checkout"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/returnurl"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	"partnerdeposits/core/tenant"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// Paths of the checkout pages and names of their form fields (pages.md, "Paths and fields").
const (
	pathPage   = site.CheckoutPath
	pathReturn = site.CheckoutReturnPath

	fieldFirstName = "firstName"
	fieldLastName  = "lastName"
	fieldEmail     = "email"
	fieldIntent    = "intent"
	intentAbandon  = "abandon"
	// Value of the form field intent by which the tenant pays a captured amount after the card was refused.
	intentPay    = "pay"
	fieldConfirm = "confirm"
	fieldAgree   = "agree"
	fieldWords   = "words"
	confirmed    = "yes"

	queryNotice  = "notice"
	noticeUnpaid = "unpaid"

	maxToken = 128

	// payPerMinute limits the requests per minute to the payment provider that a deposit's checkout may cause.
	payPerMinute = 5

	// sealedReturn is signed with the checkout token; the signature is the cookie of a browser that sent the checkout
	// form.
	sealedReturn = "checkout-return"
)

// errUnknownLink is the fault for a checkout token that belongs to no deposit.
var errUnknownLink = fault.New(fault.NotFound, "checkout_not_found", "There is no checkout at this address.")

type Deps struct {
	Checkout *checkout.Service
	Limiter  ports.Limiter
	// Allowed requests per minute and client network, over all checkout pages.
	RequestsPerMinute int
	Site              *ui.SiteCookies
	Log               *slog.Logger
}

type pages struct{ Deps }

func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathPage, d.Site.PageMiddleware, p.limit, p.explainErrors, p.find, p.show)
	app.Post(pathPage, d.Site.PageMiddleware, p.limit, p.explainErrors, p.find, p.submit)
	app.Get(pathReturn, d.Site.PageMiddleware, p.limit, p.explainErrors, p.resolve, p.find, p.returnFromProvider)
}

// limit is the middleware that limits the requests of a client's network, including those that guess tokens, and
// allows the page's forms to redirect to the provider.
//
// Returns rate_limited or checkout_not_found.
func (p *pages) limit(c *fiber.Ctx) error {
	ui.AllowAnyFormRedirect(c)
	decision := p.Limiter.Allow(c.UserContext(),
		ports.LimitRule{Name: "checkout-address", Key: "checkout:address:" + ui.NetworkOfIP(c.IP()),
			PerMinute: p.RequestsPerMinute})
	if !decision.Allowed {
		return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
	}
	if len(c.Params("token")) > maxToken {
		return errUnknownLink
	}
	return c.Next()
}

// explainErrors answers an unknown deposit with errUnknownLink, and an outage with a page that offers to try
// again.
func (p *pages) explainErrors(c *fiber.Ctx) error {
	err := c.Next()
	f := problem.FaultOf(err)
	switch {
	case err == nil:
		return nil
	case f.Is(deposit.ErrNotFound):
		return errUnknownLink
	case f.Kind != fault.Unavailable:
		return err
	}
	p.Log.WarnContext(c.UserContext(), "checkout unavailable", "request_id", problem.RequestID(c), "route", c.Route().Path,
		"cause", f.Error())
	lang := ui.LangOf(c)
	away := textAwayMessage
	if errors.Is(err, paymentports.ErrProviderUnreachable) {
		away = textProviderAway
	}
	c.Set(fiber.HeaderRetryAfter, "5")
	return ui.Render(c, fiber.StatusServiceUnavailable, retryPage(retryView{
		Error: ui.ErrorView{
			Page:      ui.Page{Lang: lang, Title: textAway.In(lang), ErrorCode: f.Code, Query: ui.RawQuery(c)},
			Message:   away.In(lang),
			RequestID: problem.RequestID(c),
		},
		RetryPath: c.Path(),
	}))
}

type tokenKey struct{}

// token returns the checkout token of the request: from the URL, or the one that belongs to the return token
// there.
func token(c *fiber.Ctx) secret.Text {
	if resolved, ok := c.Locals(tokenKey{}).(secret.Text); ok {
		return resolved
	}
	return secret.Text(c.Params("token"))
}

// resolve looks up the checkout token for a return token in the URL.
func (p *pages) resolve(c *fiber.Ctx) error {
	resolved, err := p.Checkout.ResolveReturnToken(c.UserContext(), secret.Text(c.Params("token")))
	if err != nil {
		return err
	}
	c.Locals(tokenKey{}, resolved)
	return c.Next()
}

func pagePath(c *fiber.Ctx) string { return site.FillPath(site.CheckoutPath, token(c).Reveal()) }

type viewKey struct{}

// find reads the deposit of the checkout token before the handler runs, so that every response is in the deposit's
// language.
func (p *pages) find(c *fiber.Ctx) error {
	v, err := p.Checkout.CheckoutView(c.UserContext(), token(c))
	if err != nil {
		return err
	}
	p.Site.PreferLang(c, v.Deposit.Locale, token(c).Reveal())
	c.Locals(viewKey{}, v)
	return c.Next()
}

// found returns the deposit that the middleware find has read.
func found(c *fiber.Ctx) checkout.View {
	v, _ := c.Locals(viewKey{}).(checkout.View)
	return v
}

func (p *pages) show(c *fiber.Ctx) error {
	v := found(c)
	if err := p.Checkout.RecordLinkOpened(c.UserContext(), c.Query(site.MailQueryParam)); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, v, v.Person, nil)
}

// submit handles the forms of the checkout page: to secure the deposit, to pay a claim, or to give up, which must
// be confirmed.
func (p *pages) submit(c *fiber.Ctx) error {
	if err := p.Site.CheckCSRF(c); err != nil {
		return err
	}
	if c.FormValue(fieldIntent) == intentAbandon {
		if v := found(c); v.Open && c.FormValue(fieldConfirm) != confirmed {
			return p.askToGiveUp(c, v)
		}
		next, err := p.Checkout.Abandon(c.UserContext(), token(c))
		if err != nil {
			return err
		}
		return p.redirect(c, next)
	}
	if c.FormValue(fieldIntent) == intentPay {
		return p.payDebt(c)
	}
	person := tenant.Person{
		FirstName: strings.TrimSpace(c.FormValue(fieldFirstName)),
		LastName:  strings.TrimSpace(c.FormValue(fieldLastName)),
		Email:     strings.TrimSpace(c.FormValue(fieldEmail)),
		Locale:    string(ui.LangOf(c)),
	}
	given := givenBy(c)
	mistakes := person.Mistakes()
	if _, err := found(c).Terms.Accept(given); err != nil {
		mistakes = append(mistakes, tenant.FieldMistake{Field: fieldAgree, Fault: fault.FromError(err)})
	}
	if len(mistakes) > 0 {
		return p.render(c, fiber.StatusUnprocessableEntity, found(c), person, mistakes)
	}
	next, err := p.Checkout.Submit(c.UserContext(), token(c), person, given)
	// The agreement's words changed after the deposit was read, so the form is shown again with the new words.
	if errors.Is(err, agreement.ErrChanged) {
		v, err := p.Checkout.CheckoutView(c.UserContext(), token(c))
		if err != nil {
			return err
		}
		return p.render(c, fiber.StatusUnprocessableEntity, v, person,
			[]tenant.FieldMistake{{Field: fieldAgree, Fault: agreement.ErrChanged}})
	}
	if err != nil {
		return err
	}
	p.Site.SetCheckoutCookie(c, p.Site.SignText(token(c).Reveal(), sealedReturn))
	return p.redirect(c, next)
}

// givenBy reads the tenant's agreement from the posted form, never from the query: following a link must not count
// as agreeing.
func givenBy(c *fiber.Ctx) agreement.SubmittedForm {
	return agreement.SubmittedForm{
		Agreed: ui.PostValue(c, fieldAgree) != "", PageWords: ui.PostValue(c, fieldWords), Locale: string(ui.LangOf(c)),
		Origin: agreement.RequestOrigin{Address: c.IP(), UserAgent: agreement.CleanUserAgent(c.Get(fiber.HeaderUserAgent))},
	}
}

// returnFromProvider handles the tenant's return from the payment provider. The provider sees the return token, so
// the tenant's data is shown only to the browser that sent the form, or for a checkout token.
func (p *pages) returnFromProvider(c *fiber.Ctx) error {
	known := token(c).Equal(c.Params("token")) || p.Site.VerifySignedText(token(c).Reveal(), sealedReturn,
		p.Site.CheckoutCookie(c))
	next, err := p.Checkout.HandleReturn(c.UserContext(), token(c), known)
	if err != nil {
		return err
	}
	if next.View.Deposit.Status == deposit.Captured {
		return p.returnFromDebt(c, next.View, known)
	}
	switch leaves := endedByTenant(next.View) && next.View.Deposit.ReturnURL != ""; {
	case !known && !leaves:
		return p.renderReturn(c, next.View)
	case next.View.Open && next.View.Deposit.Status != deposit.PaymentIssue:
		return c.Redirect(pagePath(c)+"?"+queryNotice+"="+noticeUnpaid, fiber.StatusSeeOther)
	default:
		return p.redirect(c, next)
	}
}

// redirect sends the tenant to the payment provider, to the return URL, or to the checkout page.
func (p *pages) redirect(c *fiber.Ctx, next checkout.NextPage) error {
	switch {
	case next.PageURL != "":
		return c.Redirect(next.PageURL, fiber.StatusSeeOther)
	case endedByTenant(next.View) && next.View.Deposit.ReturnURL != "":
		return c.Redirect(backURL(next.View), fiber.StatusSeeOther)
	default:
		return c.Redirect(pagePath(c), fiber.StatusSeeOther)
	}
}

// payDebt redirects the tenant to the provider's page to pay a captured amount, or to the checkout page if nothing
// is left to pay. Returns rate_limited.
func (p *pages) payDebt(c *fiber.Ctx) error {
	decision := p.Limiter.Allow(c.UserContext(),
		ports.LimitRule{Name: "checkout-pay", Key: "checkout:pay:" + found(c).Deposit.ID.String(), PerMinute: payPerMinute})
	if !decision.Allowed {
		return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
	}
	next, err := p.Checkout.StartDebtPayment(c.UserContext(), token(c))
	if err != nil {
		return err
	}
	if next.PageURL == "" {
		return c.Redirect(pagePath(c), fiber.StatusSeeOther)
	}
	p.Site.SetCheckoutCookie(c, p.Site.SignText(token(c).Reveal(), sealedReturn))
	return c.Redirect(next.PageURL, fiber.StatusSeeOther)
}

// returnFromDebt shows the tenant the state of a captured amount after the return from the payment provider; with
// only the return token, without a form.
func (p *pages) returnFromDebt(c *fiber.Ctx, v checkout.View, known bool) error {
	switch {
	case !known:
		return p.renderReturn(c, v)
	case v.DebtPayable():
		return c.Redirect(pagePath(c)+"?"+queryNotice+"="+noticeUnpaid, fiber.StatusSeeOther)
	default:
		return c.Redirect(pagePath(c), fiber.StatusSeeOther)
	}
}

// endedByTenant reports whether the tenant ended the checkout: paid, declined, or gave up.
func endedByTenant(v checkout.View) bool {
	switch v.Deposit.StatusReason {
	case deposit.TriggerTenantDeclined.StatusReason(), deposit.TriggerTenantAbandoned.StatusReason():
		return true
	}
	return v.ReturnOutcome() == deposit.OutcomeSecured
}

// backURL returns the partner's return URL with the deposit's id and outcome appended (api.md §3, "Return
// redirect").
func backURL(v checkout.View) string {
	return returnurl.AppendParams(v.Deposit.ReturnURL, []returnurl.QueryParam{
		{Key: "depositId", Value: id.Deposit.Of(v.Deposit.ID)},
		{Key: "depositStatus", Value: string(v.ReturnOutcome())},
	})
}
