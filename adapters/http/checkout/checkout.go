// Package checkout serves the tenant's pages at /checkout/{token} (api.md §3; operations.md, "Pages"): the form, the way
// to the payment provider's page and back, and what became of the deposit.
//
// The token in the address is all that guards these pages, so they send no referrer and are kept by no cache.
package checkout

import (
	"log/slog"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/checkout"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/returnurl"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

// Paths and names of the fields (operations.md, "Pages").
const (
	pathPage   = "/checkout/:token"
	pathReturn = "/checkout/:token/return"

	fieldFirstName = "firstName"
	fieldLastName  = "lastName"
	fieldEmail     = "email"
	fieldIntent    = "intent"
	intentAbandon  = "abandon"

	queryNotice  = "notice"
	noticeUnpaid = "unpaid"

	maxToken = 128
)

// errUnknownLink answers a token that opens nothing.
var errUnknownLink = fault.New(fault.NotFound, "checkout_not_found", "There is no checkout at this address.")

// Deps are what the pages stand on.
type Deps struct {
	Checkout          *checkout.Service
	Limiter           ports.Limiter
	RequestsPerMinute int // per address; every page and form counts
	Site              *ui.Site
	Log               *slog.Logger
}

type pages struct{ Deps }

// Mount adds the pages to the dashboard's host.
func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathPage, d.Site.Headers, p.guard, p.show)
	app.Post(pathPage, d.Site.Headers, p.guard, p.submit)
	app.Get(pathReturn, d.Site.Headers, p.guard, p.comeBack)
}

// guard limits what one address may ask, guessing tokens included. Its forms end at the provider or at a return URL.
func (p *pages) guard(c *fiber.Ctx) error {
	ui.SetAnyFormTarget(c)
	decision := p.Limiter.Allow(c.UserContext(),
		ports.LimitRule{Name: "checkout-address", Key: "checkout:address:" + network(c.IP()), PerMinute: p.RequestsPerMinute})
	if !decision.Allowed {
		return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
	}
	if len(c.Params("token")) > maxToken {
		return errUnknownLink
	}
	return p.explain(c, c.Next())
}

// network folds an IPv6 address into its /64: one subscriber has all of it.
func network(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Unmap().Is4() {
		return ip
	}
	prefix, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}

// explain turns the errors of checkout into words for the tenant; what is no matter of checkout goes on.
func (p *pages) explain(c *fiber.Ctx, err error) error {
	f := problem.Of(err)
	switch {
	case err == nil:
		return nil
	case f.Is(deposit.ErrNotFound):
		return errUnknownLink
	case f.Kind != fault.Unavailable:
		return err
	}
	p.Log.WarnContext(c.UserContext(), "checkout unavailable", "request_id", problem.RequestID(c), "route", c.Route().Path, "cause", f.Error())
	lang := ui.LangOf(c)
	c.Set(fiber.HeaderRetryAfter, "5")
	return ui.Render(c, fiber.StatusServiceUnavailable, retryPage(retryView{
		Error: ui.ErrorView{
			Page:      ui.Page{Lang: lang, Title: textAway.In(lang), ErrorCode: f.Code, NoSwitch: true},
			Message:   textAwayMessage.In(lang),
			RequestID: problem.RequestID(c),
		},
		Again: c.Path(),
	}))
}

func token(c *fiber.Ctx) secret.Text { return secret.Text(c.Params("token")) }

func pagePath(c *fiber.Ctx) string { return "/checkout/" + c.Params("token") }

// show is the page of the deposit, whatever its state.
func (p *pages) show(c *fiber.Ctx) error {
	v, err := p.Checkout.View(c.UserContext(), token(c))
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, v, v.Person, nil)
}

// submit takes both forms of the page: going on, and giving up.
func (p *pages) submit(c *fiber.Ctx) error {
	if err := p.Site.CheckForm(c); err != nil {
		return err
	}
	if c.FormValue(fieldIntent) == intentAbandon {
		next, err := p.Checkout.Abandon(c.UserContext(), token(c))
		if err != nil {
			return err
		}
		return p.goOn(c, next)
	}
	person := tenant.Person{
		FirstName: strings.TrimSpace(c.FormValue(fieldFirstName)),
		LastName:  strings.TrimSpace(c.FormValue(fieldLastName)),
		Email:     strings.TrimSpace(c.FormValue(fieldEmail)),
		Locale:    string(ui.LangOf(c)),
	}
	if err := person.Validate(); err != nil {
		v, viewErr := p.Checkout.View(c.UserContext(), token(c))
		if viewErr != nil {
			return viewErr
		}
		return p.render(c, fiber.StatusUnprocessableEntity, v, person, err)
	}
	next, err := p.Checkout.Submit(c.UserContext(), token(c), person)
	if err != nil {
		return err
	}
	return p.goOn(c, next)
}

// comeBack is where the provider sends the tenant.
func (p *pages) comeBack(c *fiber.Ctx) error {
	next, err := p.Checkout.Return(c.UserContext(), token(c))
	if err != nil {
		return err
	}
	if next.View.Open && next.View.Deposit.Status != deposit.PaymentIssue {
		return c.Redirect(pagePath(c)+"?"+queryNotice+"="+noticeUnpaid, fiber.StatusSeeOther)
	}
	return p.goOn(c, next)
}

// goOn leads the tenant to the provider, back to the partner, or to the page of the deposit.
func (p *pages) goOn(c *fiber.Ctx, next checkout.Next) error {
	switch {
	case next.PageURL != "":
		return c.Redirect(next.PageURL, fiber.StatusSeeOther)
	case ended(next.View) && next.View.Deposit.ReturnURL != "":
		return c.Redirect(backURL(next.View), fiber.StatusSeeOther)
	default:
		return c.Redirect(pagePath(c), fiber.StatusSeeOther)
	}
}

// ended reports whether the checkout came to an end of the tenant's own making. What somebody else ended is explained
// on our page first.
func ended(v checkout.View) bool {
	switch v.Deposit.StatusReason {
	case deposit.TenantDeclined.Reason(), deposit.TenantAbandoned.Reason():
		return true
	}
	return v.Outcome() == deposit.OutcomeSecured
}

// backURL is the return URL with the outcome (api.md §3, "Return redirect").
func backURL(v checkout.View) string {
	return returnurl.Append(v.Deposit.ReturnURL,
		returnurl.Param{Key: "depositId", Value: id.Deposit.Of(v.Deposit.ID)},
		returnurl.Param{Key: "depositStatus", Value: string(v.Outcome())})
}
